/** Other spellings of the same characters: escapes, references, invisible and wide characters. */

import { type Match, resolveOverlaps } from "./match.ts";

/** A text with characters in place of their other spellings. */
export interface Spelling {
  text: string;
  /** Returns the offsets, in the original text, of a match in `text`. */
  toOriginal(match: Match): Match;
}

/** Spellings in spellings, such as `%2540`, are read to this depth. */
const MAX_DEPTH = 4;

const HEX = "[0-9A-Fa-f]";
/** Bytes of one character beyond ASCII in UTF-8, each after `sign`. */
const utf8 = (sign: string, hex: string) =>
  `${sign}(?:[CcDd]${hex}${sign}[89AaBb]${hex}|[Ee]${hex}(?:${sign}[89AaBb]${hex}){2}|[Ff][0-4](?:${sign}[89AaBb]${hex}){3})`;
const SPELLINGS = new RegExp(
  [
    `%[0-7]${HEX}`,
    utf8("%", HEX),
    // Quoted-printable, RFC 2045: of ASCII only what addresses have, because `card=4111` means something else.
    "=40(?=[\\p{L}\\p{N}-]{1,63}(?:\\.|=2E))",
    "=2E",
    utf8("=", "[0-9A-F]"),
    "=\\r?\\n",
    `&(?:#\\d{1,7}|#[xX]${HEX}{1,6}|[A-Za-z]{2,14});`,
    `\\\\{1,16}(?:u${HEX}{4}|u\\{${HEX}{1,6}\\}|x${HEX}{2})`,
    "\\p{Default_Ignorable_Code_Point}",
    // Spaces and dashes that word processors put in place of those of the keyboard.
    "[\\u00a0\\u2000-\\u200a\\u202f\\u205f\\u3000]",
    "[\\u2010-\\u2013\\u2212]",
    // Compatibility forms of letters, digits and signs of ASCII.
    "[\\u2460-\\u24ff\\ufe50-\\ufe6b\\uff01-\\uff5e\\u{1d400}-\\u{1d7ff}]",
  ].join("|"),
  "gu",
);

const REFERENCES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ commat: "@", period: ".", amp: "&", quot: '"', apos: "'", lt: "<", gt: ">", colon: ":", semi: ";" },
    ...{ sol: "/", num: "#", percnt: "%", equals: "=", plus: "+", lowbar: "_", hyphen: "-", dash: "-", comma: "," },
    ...{ nbsp: " ", NonBreakingSpace: " ", ensp: " ", emsp: " ", thinsp: " ", Tab: "\t", NewLine: "\n" },
    ...{ shy: "", zwj: "", zwnj: "", ZeroWidthSpace: "" },
  }),
);

/** Undefined for a text without other spellings. */
export function plainSpelling(text: string): Spelling | undefined {
  const layers: Layer[] = [];
  let plain = text;
  while (layers.length < MAX_DEPTH) {
    const layer = readSpellings(plain);
    if (layer === undefined) break;
    layers.unshift(layer);
    plain = layer.text;
  }
  if (layers.length === 0) return undefined;
  return { text: plain, toOriginal: (match) => layers.reduce(toOuter, match) };
}

/** Returns the finder with the matches in the plain spelling of a text beside those in the text as it is written. */
export function findInSpellings(find: (text: string) => Match[]): (text: string) => Match[] {
  return (text) => {
    const spelling = plainSpelling(text);
    if (spelling === undefined) return find(text);
    return resolveOverlaps([...find(text), ...find(spelling.text).map(spelling.toOriginal)]);
  };
}

/** A text after one reading, and where its replacements are. */
interface Layer {
  text: string;
  /** Offsets in `text` and in the text before, for each replacement in order: start, end, start before, end before. */
  edits: readonly (readonly [start: number, end: number, startBefore: number, endBefore: number])[];
}

function readSpellings(text: string): Layer | undefined {
  const edits: Layer["edits"][number][] = [];
  const parts: string[] = [];
  let from = 0;
  let length = 0;
  for (const { index, 0: written } of text.matchAll(SPELLINGS)) {
    const plain = toPlain(written);
    if (plain === undefined) continue;
    parts.push(text.slice(from, index), plain);
    const start = length + index - from;
    length = start + plain.length;
    from = index + written.length;
    edits.push([start, length, index, from]);
  }
  return edits.length === 0 ? undefined : { text: parts.join("") + text.slice(from), edits };
}

function toPlain(written: string): string | undefined {
  switch (written[0]) {
    case "%":
      return decodeUtf8(written);
    case "=":
      return /\n$/.test(written) ? "" : decodeUtf8(written.replaceAll("=", "%"));
    case "&":
      return written[1] === "#"
        ? fromCodePoint(written[2]?.toLowerCase() === "x" ? written.slice(3, -1) : written.slice(2, -1), written[2])
        : REFERENCES.get(written.slice(1, -1));
    case "\\":
      return fromCodePoint(written.replace(/^\\+[ux]\{?|\}$/g, ""), "x");
  }
  if (/\p{Default_Ignorable_Code_Point}/u.test(written)) return "";
  if (/[\u2010-\u2013\u2212]/.test(written)) return "-";
  return written.normalize("NFKC");
}

function decodeUtf8(escapes: string): string | undefined {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return undefined;
  }
}

function fromCodePoint(number: string, base: string | undefined): string | undefined {
  const point = Number.parseInt(number, base?.toLowerCase() === "x" ? 16 : 10);
  return point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}

/** A match that begins or ends within a replacement covers all of what was replaced. */
function toOuter(match: Match, { edits }: Layer): Match {
  const first = lastEdit(edits, match.start);
  const last = lastEdit(edits, match.end - 1);
  return {
    ...match,
    start: first === undefined ? match.start : match.start < first[1] ? first[2] : match.start - first[1] + first[3],
    end: last === undefined ? match.end : match.end <= last[1] ? last[3] : match.end - last[1] + last[3],
  };
}

/** Returns the last edit that starts at `offset` or before. */
function lastEdit(edits: Layer["edits"], offset: number): Layer["edits"][number] | undefined {
  let low = 0;
  let high = edits.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((edits[middle]?.[0] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return edits[low - 1];
}
