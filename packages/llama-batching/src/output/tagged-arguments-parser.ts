import { PartialMatcher } from "./partial-match.ts";
import type { TaggedArguments, TaggedParameter } from "./tagged-arguments.ts";

export interface ParsedArguments {
  /** Text of the JSON object. */
  text: string;
  /** What follows the arguments; undefined: they go on. */
  rest: string | undefined;
}

/** Converts streamed arguments with tags, whose syntax a grammar guarantees, to a JSON object. */
export class TaggedArgumentsParser {
  readonly #tags: TaggedArguments;
  readonly #parameters: readonly TaggedParameter[];
  /** Texts that can follow the last argument. */
  readonly #ends: readonly string[];
  readonly #endOfText: PartialMatcher;
  #current: TaggedParameter | undefined;
  #count = 0;
  #held = "";

  constructor(tags: TaggedArguments, parameters: readonly TaggedParameter[], ends: readonly string[]) {
    this.#tags = tags;
    this.#parameters = parameters;
    this.#ends = ends;
    this.#endOfText = new PartialMatcher([tags.text.after]);
  }

  push(piece: string): ParsedArguments {
    this.#held += piece;
    let text = "";
    for (;;) {
      if (this.#current === undefined) {
        const end = this.#ends.find((each) => this.#held.startsWith(each));
        const head = this.#head();
        if (head !== undefined) {
          text += `${this.#count === 0 ? "{" : ", "}${JSON.stringify(head.parameter.name)}: `;
          text += head.parameter.isText ? '"' : "";
          this.#current = head.parameter;
          this.#count += 1;
          this.#held = this.#held.slice(head.length);
        } else if (end !== undefined) {
          return { text: `${text}${this.#count === 0 ? "{" : ""}}`, rest: this.#held };
        } else return { text, rest: undefined };
      }
      const value: string | undefined = this.#current?.isText === true ? this.#readText() : this.#readOther();
      text += value ?? "";
      if (this.#current !== undefined) return { text, rest: undefined };
    }
  }

  /** The argument that begins here. */
  #head(): { parameter: TaggedParameter; length: number } | undefined {
    const { before, between, text, other } = this.#tags;
    for (const parameter of this.#parameters) {
      const { afterName } = parameter.isText ? text : other;
      const head = `${this.#count === 0 ? "" : between}${before}${parameter.name}${afterName}`;
      if (this.#held.startsWith(head)) return { parameter, length: head.length };
    }
    return undefined;
  }

  #readText(): string {
    const { after } = this.#tags.text;
    const end = this.#held.indexOf(after);
    const length = end >= 0 ? end : this.#held.length - this.#endOfText.partialLength(this.#held);
    const value = JSON.stringify(this.#held.slice(0, length)).slice(1, -1);
    this.#held = this.#held.slice(end >= 0 ? end + after.length : length);
    if (end < 0) return value;
    this.#current = undefined;
    return `${value}"`;
  }

  /** Returns the value once it is complete. */
  #readOther(): string | undefined {
    const { other, between, before } = this.#tags;
    const followers = other.after === "" ? [...this.#ends, between + before] : [other.after];
    const end = endOfJson(this.#held, followers);
    if (end === undefined) return undefined;
    const value = this.#held.slice(0, end).trim();
    this.#held = this.#held.slice(end + other.after.length);
    this.#current = undefined;
    return value;
  }
}

/** Where one of the texts follows a JSON value, outside of its strings, lists and objects. */
function endOfJson(text: string, followers: readonly string[]): number | undefined {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    if (depth === 0 && !isInString && index > 0 && followers.some((each) => text.startsWith(each, index))) return index;
    const character = text.charAt(index);
    if (isInString && character === "\\") index += 1;
    else if (character === '"') isInString = !isInString;
    else if (!isInString && (character === "{" || character === "[")) depth += 1;
    else if (!isInString && (character === "}" || character === "]")) depth -= 1;
  }
  return undefined;
}
