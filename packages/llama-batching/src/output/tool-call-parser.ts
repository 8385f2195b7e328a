/** Parses streamed tool calls whose syntax a grammar guarantees. */

import { CALL_ID_LENGTH } from "../call-id.ts";
import type { Tool } from "../types.ts";
import { JsonDepth } from "./json-depth.ts";
import { taggedParameters } from "./tagged-arguments.ts";
import { TaggedArgumentsParser } from "./tagged-arguments-parser.ts";
import { CALL_ID, CALL_INDEX, type ToolCallFormat } from "./tool-call-format.ts";

export type CallPart = { type: "call"; name: string } | { type: "arguments"; text: string };

export class ToolCallParser {
  readonly #first: RegExp;
  readonly #next: RegExp | undefined;
  readonly #depth: JsonDepth = new JsonDepth();
  readonly #format: ToolCallFormat;
  readonly #tools: readonly CallableTool[];
  /** Arguments of the current call that are no JSON object. */
  #tagged: TaggedArgumentsParser | undefined;
  #expected: "first" | "arguments" | "next" = "first";
  #held = "";

  constructor(format: ToolCallFormat, tools: readonly CallableTool[]) {
    const { open, afterName, between } = format;
    this.#format = format;
    this.#tools = tools;
    // With nothing in between, what follows shows that the name is complete and not a prefix of another.
    const followers = [...(format.tagged === undefined ? [] : [format.tagged.before, ...this.#ends]), "{"];
    const end = afterName === "" ? `(?=${followers.map(toPattern).join("|")})` : toPattern(afterName);
    const names = tools.map(({ name }) => name);
    const name = `(${names.map(toPattern).join("|")})${end}`;
    this.#first = new RegExp(`^${toPattern(open)}${name}`, "u");
    this.#next = between === undefined ? undefined : new RegExp(`^${toPattern(between)}${name}`, "u");
  }

  /** Whether the arguments of the last call are complete. */
  get isCallComplete(): boolean {
    return this.#expected === "next";
  }

  push(text: string): CallPart[] {
    const parts: CallPart[] = [];
    this.#held += text;
    while (this.#held !== "") {
      const part = this.#expected === "arguments" ? this.#readArguments() : this.#readHead();
      if (part === undefined) break;
      if (part.type === "call" || part.text !== "") parts.push(part);
    }
    return parts;
  }

  #readArguments(): CallPart {
    if (this.#tagged !== undefined) {
      const { text, rest } = this.#tagged.push(this.#held);
      this.#held = rest ?? "";
      if (rest !== undefined) {
        this.#expected = "next";
        this.#tagged = undefined;
      }
      return { type: "arguments", text };
    }
    const end = this.#endOfObject();
    const text = this.#held.slice(0, end ?? this.#held.length);
    this.#held = this.#held.slice(text.length);
    if (end !== undefined) this.#expected = "next";
    return { type: "arguments", text };
  }

  /** Undefined until the head of the next call is complete. */
  #readHead(): CallPart | undefined {
    const head = (this.#expected === "first" ? this.#first : this.#next)?.exec(this.#held);
    if (head === null || head === undefined) return undefined;
    const name = head[1] as string;
    this.#tagged = this.#createTagged(name);
    this.#held = this.#held.slice(head[0].length);
    this.#expected = "arguments";
    return { type: "call", name };
  }

  /** Index after the last character of the arguments, or undefined. */
  #endOfObject(): number | undefined {
    for (let index = 0; index < this.#held.length; index += 1) {
      const character = this.#held.charAt(index);
      this.#depth.push(character);
      if (character === "}" && this.#depth.isAtTop) return index + 1;
    }
    return undefined;
  }

  /** Texts that can follow the arguments of a call with tags. */
  get #ends(): string[] {
    const { close, between } = this.#format;
    return between === undefined ? [close] : [close, between];
  }

  #createTagged(name: string): TaggedArgumentsParser | undefined {
    const { tagged } = this.#format;
    if (tagged === undefined) return undefined;
    const parameters = taggedParameters(this.#tools.find((tool) => tool.name === name)?.parameters, tagged);
    return parameters && new TaggedArgumentsParser(tagged, parameters, this.#ends);
  }
}

/** Name and schema of a tool. */
export type CallableTool = Pick<Tool, "name"> & Partial<Pick<Tool, "parameters">>;

function toPattern(text: string): string {
  return text
    .replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
    .replaceAll(CALL_ID, `[a-zA-Z0-9]{${CALL_ID_LENGTH}}`)
    .replaceAll(CALL_INDEX, "[0-9]+");
}
