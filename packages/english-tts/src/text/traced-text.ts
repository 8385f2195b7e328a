/** A text that keeps, through replacements, what was written where it says something else. */

export interface TextPiece {
  text: string;
  /** What was written for it; left out: the same. */
  written?: string;
}

/** Returns what stands in place of a match and its groups. */
export type Replacement = (match: string, ...groups: string[]) => string;

const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

export class TracedText {
  readonly text: string;
  /**
   * What was written for each UTF-16 unit of `text`: itself, or, where several stand for a replaced text, all of it for
   * the first that is not a space, and nothing for the others.
   */
  readonly written: readonly string[];

  private constructor(text: string, written: readonly string[]) {
    this.text = text;
    this.written = written;
  }

  static of(pieces: Iterable<TextPiece>): TracedText {
    const written: string[] = [];
    let whole = "";
    for (const { text, written: other } of pieces) {
      whole += text;
      append(written, other === undefined || other === text ? units(text) : carriedBy(text, other));
    }
    return new TracedText(whole, written);
  }

  /** Like `String.replaceAll`; the pattern must not match an empty text. */
  replace(pattern: RegExp, replacement: Replacement): TracedText {
    return this.#rewrite(this.text.matchAll(pattern), replacement);
  }

  /** Repairs and composes characters, as `toWellFormed` and `normalize("NFC")` do. */
  normalize(): TracedText {
    const repaired = new TracedText(this.text.toWellFormed(), this.written);
    if (repaired.text === repaired.text.normalize("NFC")) return repaired;
    const graphemes = Array.from(characters.segment(repaired.text), ({ segment, index }) =>
      Object.assign([segment], { index }),
    );
    return repaired.#rewrite(graphemes, (grapheme) => grapheme.normalize("NFC"));
  }

  trim(): TracedText {
    const start = this.text.length - this.text.trimStart().length;
    return this.slice(start, start + this.text.trim().length);
  }

  slice(start: number, end: number): TracedText {
    return new TracedText(this.text.slice(start, end), this.written.slice(start, end));
  }

  #rewrite(matches: Iterable<string[] & { index: number }>, replacement: Replacement): TracedText {
    const written: string[] = [];
    let text = "";
    let end = 0;
    for (const match of matches) {
      const [whole = "", ...groups] = match;
      const { index } = match;
      const said = replacement(whole, ...groups);
      text += this.text.slice(end, index) + said;
      append(written, this.written.slice(end, index));
      end = index + whole.length;
      append(written, this.#writtenFor(said, whole, index));
    }
    if (end === 0) return this;
    append(written, this.written.slice(end));
    return new TracedText(text + this.text.slice(end), written);
  }

  #writtenFor(said: string, whole: string, index: number): readonly string[] {
    if (said.trim() === "") return units(said);
    // What is left of markup, such as the text of a link, was written like that.
    const at = whole.indexOf(said);
    if (at !== -1) return this.written.slice(index + at, index + at + said.length);
    return carriedBy(said, this.written.slice(index, index + whole.length).join(""));
  }
}

/** Gives the first character that is not a space all that was written. */
function carriedBy(text: string, written: string): string[] {
  const first = text.search(/\S/);
  return units(text).map((_, index) => (index === first ? written : ""));
}

function units(text: string): string[] {
  return text.split("");
}

/** A spread would put all of a long text on the stack. */
function append(list: string[], more: readonly string[]): void {
  for (const each of more) list.push(each);
}
