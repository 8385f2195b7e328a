/** Answers of upstreams that have Anthropic's Messages API. */

import { NativeError, type NativeEvent, type NativeFormat, type NativeReader } from "../../contracts/native-format.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { toCount } from "../native-usage.ts";

type Fields = Record<string, unknown>;

export const NATIVE_MESSAGES: NativeFormat = {
  operation: "messages",
  headers: { "anthropic-version": "2023-06-01" },
  reader: (model) => new MessagesReader(model),
};

class MessagesReader implements NativeReader {
  readonly #model: string;
  readonly #reported: Fields = {};

  constructor(model: string) {
    this.#model = model;
  }

  /** `input_tokens` leaves out the tokens that are read from a cache or written to it. */
  get usage(): TokenUsage | undefined {
    const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = this.#reported;
    const uncached = toCount(input_tokens);
    const completionTokens = toCount(output_tokens);
    if (uncached === undefined || completionTokens === undefined) return undefined;
    const cachedTokens = toCount(cache_read_input_tokens) ?? 0;
    const promptTokens = uncached + cachedTokens + (toCount(cache_creation_input_tokens) ?? 0);
    return { promptTokens, completionTokens, cachedTokens, reasoningTokens: 0, estimated: false };
  }

  readEvent(event: Fields): NativeEvent {
    const { type, message, delta } = event;
    if (type === "error") throw toError(event);
    this.#note(event.usage);
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
  }

  #note(usage: unknown): void {
    for (const [name, value] of Object.entries((usage ?? {}) as Fields)) {
      if (typeof value === "number") this.#reported[name] = value;
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
