/** Prepares text for speech: removes markup and silent characters, spells out addresses. */

import { conventionsOf, type TextConventions } from "./text-conventions.ts";
import type { Replacement, TracedText } from "./traced-text.ts";

const ADDRESS = /\b(?:https?:\/\/|www\.)[^\s<>"]+|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/gi;
const EMOJI =
  /\p{RGI_Emoji}|\p{Extended_Pictographic}|\p{Regional_Indicator}|[\u{1F3FB}-\u{1F3FF}\u20E3\uFE0E\uFE0F]/gv;
/** Markdown links and images, of which the text is spoken. */
const LINK = /(?<![\w\])])!?\[([^[\]\n]+)\]\((?:<[^<>\n]*>|(?:[^()\s]|\([^()\s]*\))*)(?:\s+"[^"\n]*")?\)/g;
/** Controls, invisible format characters (joiners, directions), private use and replacement characters. */
const SILENT = /[^\P{C}\n]|\uFFFD/gu;
/** Markdown around words; keeps `*` and `_` between letters or digits, and a `#` that means "number". */
const MARKUP = /(?<![\p{L}\p{N}])(?!#\d)[*_`~#]+(?=\S)|(?<=\S)[*_`~]+(?![\p{L}\p{N}])/gu;

/** Repeated punctuation, each of which would be a pause or be read aloud. */
const LONG_RUN = /([^\p{L}\p{N}\s])\1{3,}/gu;
/** Markdown of headings, lists and quotations. */
const LINE_MARKUP = /^ *(?:#{1,6}|\*|>) +(?=\S)/gm;

/** Heights: "5 ft 11 in" and 5′11″. On its own, "11 in" may be a preposition. */
const FEET_AND_INCHES =
  /(?<![\w.,])(\d{1,3})(?:\s?ft\.?\s|\s?ft\.?|\s?['′])\s?(\d{1,2}(?:\.\d+)?)(?:\s?in\b(?:\.(?!\s+\p{Lu}|$))?|\s?["″])/gu;

/** Keeps a line break between paragraphs; any other run of white space becomes one space. */
export function cleanText(text: string, language = "en"): string {
  const prepared = text.toWellFormed().normalize("NFC");
  return stepsOf(language)
    .reduce((cleaned, [pattern, replacement]) => cleaned.replace(pattern, replacement), prepared)
    .trim();
}

/** Like `cleanText`. */
export function cleanTraced(text: TracedText, language = "en"): TracedText {
  return stepsOf(language)
    .reduce((cleaned, [pattern, replacement]) => cleaned.replace(pattern, replacement), text.normalize())
    .trim();
}

function stepsOf(language: string): (readonly [pattern: RegExp, replacement: Replacement])[] {
  const { address: words } = conventionsOf(language);
  return [
    [LINK, (_link, text = "") => text],
    [ADDRESS, (address) => spellOutAddress(address, words)],
    [FEET_AND_INCHES, (height, feet = "", inches = "") => (language === "en" ? heightInWords(feet, inches) : height)],
    [/\r\n?|[\u2028\u2029]/g, () => "\n"],
    [SILENT, (character) => (character === "\u00AD" ? "" : " ")],
    [EMOJI, () => " "],
    [LINE_MARKUP, () => ""],
    [MARKUP, () => ""],
    [LONG_RUN, (_run, sign = "") => sign.repeat(3)],
    [/[^\S\n]+/g, () => " "],
    [/ ?\n[ \n]*/g, () => "\n"],
  ];
}

/** True when the text has a letter or a digit. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

function heightInWords(feet: string, inches: string): string {
  return `${feet} ${feet === "1" ? "foot" : "feet"} ${inches} ${inches === "1" ? "inch" : "inches"}`;
}

function spellOutAddress(address: string, words: TextConventions["address"]): string {
  let end = address.length;
  while (end > 0 && ".,;:!?)]".includes(address.charAt(end - 1))) end -= 1;
  const [body, rest] = [address.slice(0, end), address.slice(end)];
  const spoken = body
    .replace(/^https?:\/\//i, "")
    .replace(/[?#].*$/s, "")
    .replace(/\/$/, "")
    .replaceAll(".", ` ${words.dot} `)
    .replaceAll("/", ` ${words.slash} `)
    .replaceAll("@", ` ${words.at} `)
    .replaceAll("+", ` ${words.plus} `)
    .replaceAll(/[-_]/g, " ");
  return `${spoken}${rest}`;
}
