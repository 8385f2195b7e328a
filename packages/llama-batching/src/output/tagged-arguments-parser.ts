import { JsonDepth } from "./json-depth.ts";
import { PartialMatcher } from "./partial-match.ts";
import type { TaggedArguments, TaggedParameter, ValueTags } from "./tagged-arguments.ts";

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
  /** Nesting within a value that is not a text. */
  #depth: JsonDepth = new JsonDepth();
  #hasBegun = false;

  constructor(tags: TaggedArguments, parameters: readonly TaggedParameter[], ends: readonly string[]) {
    this.#tags = tags;
    this.#parameters = parameters;
    this.#ends = ends;
    this.#endOfText = new PartialMatcher(tags.text === undefined ? [] : [tags.text.after]);
  }

  push(piece: string): ParsedArguments {
    this.#held += piece;
    let text = "";
    for (;;) {
      if (this.#current === undefined) {
        const head = this.#head();
        if (head === undefined) return this.#end(text);
        text += this.#begin(head);
      }
      text += this.#current?.isText === true ? this.#readText() : this.#readOther();
      if (this.#current !== undefined) return { text, rest: undefined };
    }
  }

  /** Ends the object where what follows the arguments has arrived. */
  #end(text: string): ParsedArguments {
    if (!this.#ends.some((end) => this.#held.startsWith(end))) return { text, rest: undefined };
    return { text: `${text}${this.#count === 0 ? "{" : ""}}`, rest: this.#held };
  }

  /** Begins the value of a parameter and returns its name as JSON. */
  #begin({ parameter, length }: { parameter: TaggedParameter; length: number }): string {
    const separator = this.#count === 0 ? "{" : ", ";
    this.#current = parameter;
    this.#depth = new JsonDepth();
    this.#hasBegun = false;
    this.#count += 1;
    this.#held = this.#held.slice(length);
    return `${separator}${JSON.stringify(parameter.name)}: ${parameter.isText ? '"' : ""}`;
  }

  /** The argument that begins here. */
  #head(): { parameter: TaggedParameter; length: number } | undefined {
    const { before, between, text, other } = this.#tags;
    for (const parameter of this.#parameters) {
      const { afterName } = (parameter.isText ? text : undefined) ?? other;
      const head = `${this.#count === 0 ? "" : between}${before}${parameter.name}${afterName}`;
      if (this.#held.startsWith(head)) return { parameter, length: head.length };
    }
    return undefined;
  }

  #readText(): string {
    const { after } = this.#tags.text as ValueTags;
    const end = this.#held.indexOf(after);
    const length = end >= 0 ? end : this.#held.length - this.#endOfText.partialLength(this.#held);
    const value = JSON.stringify(this.#held.slice(0, length)).slice(1, -1);
    this.#held = this.#held.slice(end >= 0 ? end + after.length : length);
    if (end < 0) return value;
    this.#current = undefined;
    return `${value}"`;
  }

  /** Returns what is new of the value: a long one takes linear time. */
  #readOther(): string {
    const { other, between, before } = this.#tags;
    const followers = other.after === "" ? [...this.#ends, between + before] : [other.after];
    if (!this.#hasBegun) this.#held = this.#held.trimStart();
    for (let index = 0; index < this.#held.length; index += 1) {
      if (this.#depth.isAtTop && this.#hasBegun) {
        if (followers.some((each) => this.#held.startsWith(each, index))) {
          this.#current = undefined;
          return this.#take(index, other.after.length).trimEnd();
        }
        const rest = this.#held.slice(index);
        if (followers.some((each) => each.startsWith(rest))) return this.#takeValue(index);
      }
      this.#depth.push(this.#held.charAt(index));
      this.#hasBegun = true;
    }
    return this.#takeValue(this.#held.length);
  }

  /** White space after a value is not part of it. */
  #takeValue(length: number): string {
    return this.#take(this.#depth.isAtTop ? this.#held.slice(0, length).trimEnd().length : length);
  }

  /** Removes `length` characters, which it returns, and `skipped` more. */
  #take(length: number, skipped = 0): string {
    const value = this.#held.slice(0, length);
    this.#held = this.#held.slice(length + skipped);
    return value;
  }
}
