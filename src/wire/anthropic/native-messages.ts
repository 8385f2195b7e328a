/** Answers of upstreams that have Anthropic's Messages API. */

import { NativeError, type NativeEvent, type NativeFormat, type NativeReader } from "../../contracts/native-format.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { parseAnthropicUsage } from "../usage/anthropic-usage.ts";
import { fieldsOf, withCalls } from "../usage/usage-fields.ts";
import { withoutBillingHeader } from "./billing-header.ts";

type Fields = Record<string, unknown>;

export const NATIVE_MESSAGES: NativeFormat = {
  operation: "messages",
  headers: { "anthropic-version": "2023-06-01" },
  membersForOthers: ({ system }) => {
    const changed = withoutBillingHeader(system);
    return changed === system ? {} : { system: changed };
  },
  reader: (model) => new MessagesReader(model),
};

class MessagesReader implements NativeReader {
  readonly #model: string;
  readonly #reported: Fields = {};
  /** Names of called tools. */
  readonly #calls: unknown[] = [];

  constructor(model: string) {
    this.#model = model;
  }

  get usage(): TokenUsage | undefined {
    return withCalls(parseAnthropicUsage(this.#reported), this.#calls);
  }

  readEvent(event: Fields): NativeEvent {
    const { type, message, delta } = event;
    if (type === "error") throw toError(event);
    this.#note(event.usage);
    this.#noteCalls([event.content_block]);
    if (typeof message === "object" && message !== null) {
      this.readComplete(message as Fields);
      return { isChanged: true, isLast: false, textBytes: 0 };
    }
    return { isChanged: false, isLast: type === "message_stop", textBytes: textBytesOf(delta) };
  }

  readComplete(answer: Fields): void {
    if (answer.type !== "message") throw toError(answer);
    answer.model = this.#model;
    this.#note(answer.usage);
    this.#noteCalls(answer.content);
  }

  #noteCalls(blocks: unknown): void {
    if (!Array.isArray(blocks)) return;
    for (const block of blocks) {
      const { type, name } = fieldsOf(block);
      if (type === "tool_use") this.#calls.push(name);
    }
  }

  /** Later events repeat some of the fields, and have null for others. */
  #note(usage: unknown): void {
    for (const [name, value] of Object.entries((usage ?? {}) as Fields)) {
      if (value !== null) this.#reported[name] = value;
    }
  }
}

function toError({ error }: Fields): NativeError {
  const { message, type } = (error ?? {}) as Fields;
  return new NativeError(typeof message === "string" ? message : "", typeof type === "string" ? type : undefined);
}

function textBytesOf(delta: unknown): number {
  const { text, thinking, partial_json } = (delta ?? {}) as Fields;
  const pieces = [text, thinking, partial_json].filter((piece) => typeof piece === "string");
  return pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
}
