/** Recognizes a tool call that a model writes as JSON text, in a code block or not, instead of in its template's form. */

const FENCES = ["```json", "```"];

export interface JsonCall {
  name: string;
  /** Where the arguments begin. */
  end: number;
}

export class JsonCallMatcher {
  /** Alternatives of each piece; white space may surround pieces. */
  readonly #pieces: readonly (readonly string[])[];
  readonly #names: readonly string[];

  constructor(names: readonly string[]) {
    this.#names = names;
    const quoted = names.map((name) => JSON.stringify(name));
    this.#pieces = [["{"], ['"name"'], [":"], quoted, [","], ['"arguments"', '"parameters"'], [":"]];
  }

  /** Matches the beginning of an output. `partial`: more text can complete the call. */
  match(text: string): JsonCall | "partial" | undefined {
    let at = skipSpace(text, 0);
    const fence = this.#piece(text, at, FENCES);
    if (fence === "partial") return "partial";
    at = skipSpace(text, at + (fence?.length ?? 0));
    let name = "";
    for (const [index, piece] of this.#pieces.entries()) {
      const end = this.#piece(text, at, piece);
      if (end === undefined || end === "partial") return end;
      if (index === 3) name = this.#names.find((each) => JSON.stringify(each) === end) ?? "";
      at += end.length;
      if (index < this.#pieces.length - 1) at = skipSpace(text, at);
    }
    return { name, end: at };
  }

  #piece(text: string, at: number, alternatives: readonly string[]): string | undefined {
    const rest = text.slice(at);
    if (alternatives.some((each) => each !== rest && each.startsWith(rest))) return "partial";
    return alternatives.find((each) => rest.startsWith(each));
  }
}

function skipSpace(text: string, from: number): number {
  return from + (/^\s*/.exec(text.slice(from))?.[0].length ?? 0);
}
