/** Converts text to the ASCII that flite reads: drops accents, replaces typographic signs, omits other scripts. */

const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/[‘’ʼ]/g, "'"],
  [/[“”„«»]/g, '"'],
  [/\s*[–—]\s*/g, ", "],
  [/…/g, "..."],
  [/€\s?(\d[\d.,]*\d|\d)/g, "$1 euros"],
  [/£\s?(\d[\d.,]*\d|\d)/g, "$1 pounds"],
  [/ß/g, "ss"],
  [/[æœ]/gi, "e"],
  [/ø/gi, "o"],
  [/ð/gi, "d"],
  [/ł/gi, "l"],
];

export function toAscii(text: string): string {
  const replaced = REPLACEMENTS.reduce((result, [sign, replacement]) => result.replace(sign, replacement), text);
  return replaced
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^\x20-\x7e]+/g, " ")
    .trim();
}
