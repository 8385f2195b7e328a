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
  return readLayers(text, MAX_DEPTH, readSpellings);
}

function readLayers(text: string, maxDepth: number, read: (text: string) => Layer | undefined): Spelling | undefined {
  const layers: Layer[] = [];
  let plain = text;
  while (layers.length < maxDepth) {
    const layer = read(plain);
    if (layer === undefined) break;
    layers.unshift(layer);
    plain = layer.text;
  }
  if (layers.length === 0) return undefined;
  return { text: plain, toOriginal: (match) => layers.reduce(toOuter, match) };
}

/**
 * Returns the finder with the matches in the plain spelling of a text beside those in the text as it is written.
 * `findAddresses` also searches the plain spelling without its markup.
 */
export function findInSpellings(
  find: (text: string) => Match[],
  findAddresses?: (text: string) => Iterable<Match>,
): (text: string) => Match[] {
  return (text) => {
    const matches = find(text);
    const spelling = plainSpelling(text);
    const inMarkup = findAddresses === undefined ? [] : findInMarkup(spelling?.text ?? text, findAddresses);
    if (spelling === undefined && inMarkup.length === 0) return matches;
    const plain = spelling === undefined ? inMarkup : [...find(spelling.text), ...inMarkup].map(spelling.toOriginal);
    return resolveOverlaps([...matches, ...plain]);
  };
}

function findInMarkup(text: string, find: (text: string) => Iterable<Match>): Match[] {
  const bare = withoutMarkup(text);
  return bare === undefined ? [] : [...find(bare.text)].map(bare.toOriginal);
}

/** Elements within a word. */
const INLINE =
  "(?:a|abbr|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span|strike|strong|sub|sup|tt|u|var|wbr)";
/** What splits an address without a reader who notices: tags, marks of Markdown, escapes of signs, combining marks. */
const MARKUP = new RegExp(
  [
    `</?${INLINE}(?:\\s[^<>]{0,200})?/?>`,
    "<!--[^<>]{0,200}-->",
    "[*_~`]",
    // Of a sign, not of a letter, which is another character then.
    "\\\\{1,16}(?=[^\\p{L}\\p{N}\\s\\\\])",
    "\\p{M}",
    "(?<=@)(?:\\[|<br\\s?/?>)",
    "(?<=@)(?:\\r?\\n|\\\\{1,16}[rn]){1,2}[ \\t>]{0,8}",
  ].join("|"),
  "giu",
);
/** Code units around a sign in which markup may belong to its address. */
const MARKUP_REACH = 512;
/** Markup after a sign may hide a line break. */
const MARKUP_DEPTH = 2;

/** Returns the text without the markup around each `@`; undefined where there is none. */
function withoutMarkup(text: string): Spelling | undefined {
  return readLayers(text, MARKUP_DEPTH, (plain) => {
    const edits = new Edits(plain);
    let end = 0;
    for (let sign = plain.indexOf("@"); sign >= 0; sign = plain.indexOf("@", end)) {
      const start = Math.max(end, sign - MARKUP_REACH);
      let last = sign;
      for (let next = sign; next >= 0 && next - last <= MARKUP_REACH; next = plain.indexOf("@", last + 1)) last = next;
      end = last + MARKUP_REACH;
      for (const { index, 0: written } of plain.slice(start, end).matchAll(MARKUP)) {
        edits.replace(start + index, start + index + written.length, "");
      }
    }
    return edits.layer();
  });
}

/** A text after one reading, and where its replacements are. */
interface Layer {
  text: string;
  /** Offsets in `text` and in the text before, for each replacement in order: start, end, start before, end before. */
  edits: readonly (readonly [start: number, end: number, startBefore: number, endBefore: number])[];
}

/** Collects replacements in a text, in order. */
class Edits {
  readonly #text: string;
  readonly #edits: Layer["edits"][number][] = [];
  readonly #parts: string[] = [];
  #from = 0;
  #length = 0;

  constructor(text: string) {
    this.#text = text;
  }

  replace(start: number, end: number, plain: string): void {
    this.#parts.push(this.#text.slice(this.#from, start), plain);
    const plainStart = this.#length + start - this.#from;
    this.#length = plainStart + plain.length;
    this.#from = end;
    this.#edits.push([plainStart, this.#length, start, end]);
  }

  layer(): Layer | undefined {
    if (this.#edits.length === 0) return undefined;
    return { text: this.#parts.join("") + this.#text.slice(this.#from), edits: this.#edits };
  }
}

function readSpellings(text: string): Layer | undefined {
  const edits = new Edits(text);
  for (const { index, 0: written } of text.matchAll(SPELLINGS)) {
    const plain = toPlain(written);
    if (plain !== undefined) edits.replace(index, index + written.length, plain);
  }
  return edits.layer();
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
