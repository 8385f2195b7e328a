/** Parses streamed tool calls whose syntax a grammar guarantees. */

import { CALL_ID_LENGTH } from "../call-id.ts";
import { CALL_ID, type ToolCallFormat } from "./tool-call-format.ts";

export type CallPart = { type: "call"; name: string } | { type: "arguments"; text: string };

export class ToolCallParser {
  readonly #first: RegExp;
  readonly #next: RegExp | undefined;
  readonly #json: JsonObjectEnd = new JsonObjectEnd();
  #expected: "first" | "arguments" | "next" = "first";
  #held = "";

  constructor({ open, afterName, between }: ToolCallFormat, names: readonly string[]) {
    // With nothing in between, the arguments show that the name is complete and not a prefix of another.
    const end = afterName === "" ? "(?=\\{)" : toPattern(afterName);
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
      if (this.#expected === "arguments") {
        const end = this.#json.find(this.#held);
        parts.push({ type: "arguments", text: this.#held.slice(0, end ?? this.#held.length) });
        this.#held = this.#held.slice(end ?? this.#held.length);
        if (end !== undefined) this.#expected = "next";
        continue;
      }
      const head = (this.#expected === "first" ? this.#first : this.#next)?.exec(this.#held);
      if (head === null || head === undefined) break;
      parts.push({ type: "call", name: head[1] as string });
      this.#held = this.#held.slice(head[0].length);
      this.#expected = "arguments";
    }
    return parts;
  }
}

/** Finds the end of a JSON object in streamed text. */
class JsonObjectEnd {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** Index after the object's last character, or undefined. */
  find(piece: string): number | undefined {
    for (let index = 0; index < piece.length; index++) {
      if (this.#ends(piece.charAt(index))) return index + 1;
    }
    return undefined;
  }

  #ends(character: string): boolean {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === '"') this.#isInString = !this.#isInString;
    else if (this.#isInString) this.#isEscaped = character === "\\";
    else if (character === "{") this.#depth += 1;
    else if (character === "}") this.#depth -= 1;
    return character === "}" && this.#depth === 0 && !this.#isInString;
  }
}

function toPattern(text: string): string {
  return text
    .split(CALL_ID)
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))
    .join(`[a-zA-Z0-9]{${CALL_ID_LENGTH}}`);
}
