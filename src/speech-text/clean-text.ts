/** What stands in a text but is never said: characters without a sound, and addresses as they are spelt. */

const ADDRESS = /\b(?:https?:\/\/|www\.)[^\s<>"]+|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/gi;
const EMOJI =
  /\p{RGI_Emoji}|\p{Extended_Pictographic}|\p{Regional_Indicator}|[\u{1F3FB}-\u{1F3FF}\u20E3\uFE0E\uFE0F]/gv;
/** Controls, invisible format characters (joiners, directions), private use and what cannot be decoded. */
const SOUNDLESS = /[^\P{C}\n]|\uFFFD/gu;
/** Signs of Markdown that surround words; a `*` or `_` between letters or digits stays, and a `#` that means "number". */
const MARKUP = /(?<![\p{L}\p{N}])(?!#\d)[*_`~#]+(?=\S)|(?<=\S)[*_`~]+(?![\p{L}\p{N}])/gu;

/** Of one sign: each would be a pause, or be named. */
const LONG_RUN = /([^\p{L}\p{N}\s])\1{3,}/gu;
/** Those of headings, lists and quotations. */
const LINE_MARKUP = /^ *(?:#{1,6}|\*|>) +(?=\S)/gm;

/** Paragraphs stay apart by a line break; any other run of white space becomes one space. */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .normalize("NFC")
    .replace(ADDRESS, (address) => sayAddress(address))
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(SOUNDLESS, (character) => (character === "\u00AD" ? "" : " "))
    .replace(EMOJI, " ")
    .replace(LINE_MARKUP, "")
    .replace(MARKUP, "")
    .replace(LONG_RUN, "$1$1$1")
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n[ \n]*/g, "\n")
    .trim();
}

/** Whether anything in it has a sound. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

function sayAddress(address: string): string {
  let end = address.length;
  while (end > 0 && ".,;:!?)]".includes(address.charAt(end - 1))) end -= 1;
  const [body, rest] = [address.slice(0, end), address.slice(end)];
  const said = body
    .replace(/^https?:\/\//i, "")
    .replace(/[?#].*$/s, "")
    .replace(/\/$/, "")
    .replaceAll(".", " dot ")
    .replaceAll("/", " slash ")
    .replaceAll("@", " at ")
    .replaceAll(/[-_]/g, " ");
  return `${said}${rest}`;
}
