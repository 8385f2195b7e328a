/** Styles Markdown while it streams: code line by line, other text as it comes. */

import { styleText } from "node:util";
import { printable } from "./printable.ts";

type Style = Parameters<typeof styleText>[0];
type Paint = (style: Style, text: string) => string;

/** Words that most languages of code blocks share; comments, texts and numbers are found by their form. */
const KEYWORDS =
  /^(?:abstract|and|as|async|await|break|case|catch|class|const|continue|def|default|del|do|elif|else|enum|export|extends|false|False|final|finally|fn|for|from|func|function|if|impl|implements|import|in|interface|is|lambda|let|match|mod|mut|new|nil|none|None|not|null|or|package|pass|private|protected|pub|public|raise|return|select|self|static|struct|super|switch|this|throw|true|True|try|type|undefined|use|var|void|where|while|with|yield)$/;
const TOKENS =
  /(\/\/.*$|(?<![\w$])#.*$|--\s.*$)|("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)|\b(\d[\w.]*)\b|\b([A-Za-z_]\w*)\b/g;
const FENCE = /^\s*(?:```|~~~)/;

export class MarkdownWriter {
  readonly #write: (text: string) => void;
  readonly #paint: Paint;
  #line = "";
  /** Length of the part of the line that is written. */
  #written = 0;
  #isCode = false;
  #isBold = false;
  #isInlineCode = false;

  /** `paint` styles a text; it returns it as it is where the output has no colors. */
  constructor(write: (text: string) => void, paint: Paint = (style, text) => styleText(style, text)) {
    this.#write = write;
    this.#paint = paint;
  }

  add(piece: string): void {
    for (const part of printable(piece).split(/(?<=\n)/)) {
      this.#line += part;
      if (part.endsWith("\n")) this.#endLine();
      else if (!this.#isCode) this.#writeProse(false);
    }
  }

  /** Writes what waits for the end of its line. */
  end(): void {
    if (this.#isCode) this.#write(highlight(this.#line, this.#paint));
    else this.#writeProse(true);
    this.#reset();
  }

  #endLine(): void {
    const text = this.#line.slice(0, -1);
    if (FENCE.test(text)) {
      this.#isCode = !this.#isCode;
      this.#write(this.#paint("dim", text.slice(this.#written)));
    } else if (this.#isCode) this.#write(highlight(text, this.#paint));
    else {
      this.#line = text;
      this.#writeProse(true);
    }
    this.#write("\n");
    this.#reset();
  }

  #reset(): void {
    this.#line = "";
    this.#written = 0;
    this.#isBold = false;
    this.#isInlineCode = false;
  }

  /** Holds back what may become a mark: the beginning of a fence, and an asterisk at the end. */
  #writeProse(isComplete: boolean): void {
    if (this.#written === 0 && this.#holdsHeading(isComplete)) return;
    let rest = this.#line.slice(this.#written);
    if (!isComplete && /(?<!\*)(?:\*\*)*\*$/.test(rest)) rest = rest.slice(0, -1);
    this.#written += rest.length;
    for (const part of rest.split(/(\*\*|`)/)) {
      if (part === "**" && !this.#isInlineCode) this.#isBold = !this.#isBold;
      else if (part === "`") this.#isInlineCode = !this.#isInlineCode;
      else if (part !== "") this.#write(this.#styled(part));
    }
  }

  /** Writes a complete fence or heading; false for a line that is neither. */
  #holdsHeading(isComplete: boolean): boolean {
    if (!isComplete && /^\s*(?:`{0,3}|~{0,3}|#{1,6})$/.test(this.#line)) return true;
    if (!FENCE.test(this.#line) && !/^#{1,6} /.test(this.#line)) return false;
    if (!isComplete) return true;
    this.#write(this.#paint("bold", this.#line));
    this.#written = this.#line.length;
    return true;
  }

  #styled(text: string): string {
    if (this.#isInlineCode) return this.#paint("cyan", text);
    return this.#isBold ? this.#paint("bold", text) : text;
  }
}

function highlight(line: string, paint: Paint): string {
  return line.replace(TOKENS, (token, comment?: string, quoted?: string, number?: string) => {
    if (comment !== undefined) return paint("dim", token);
    if (quoted !== undefined) return paint("green", token);
    if (number !== undefined) return paint("yellow", token);
    return KEYWORDS.test(token) ? paint("magenta", token) : token;
  });
}
