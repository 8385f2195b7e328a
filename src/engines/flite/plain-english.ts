/** What flite reads is ASCII: accents are dropped, typographic signs become plain ones, other scripts are left out. */

const SPOKEN: readonly (readonly [RegExp, string])[] = [
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

export function toPlainEnglish(text: string): string {
  const spoken = SPOKEN.reduce((result, [sign, replacement]) => result.replace(sign, replacement), text);
  return spoken
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^\x20-\x7e]+/g, " ")
    .trim();
}
