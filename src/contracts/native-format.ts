/** Formats other than chat completions, which some upstreams speak themselves. */

import type { TokenUsage } from "../kernel/usage.ts";

type Fields = Record<string, unknown>;

export interface NativeFormat {
  /** Path of its operation at the upstream, and the name of the ability. */
  readonly operation: "responses" | "messages";
  /** Headers that its upstreams require. */
  readonly headers: Readonly<Record<string, string>>;
  /** True if answers refer to what this service stores, so that no other request may get them. */
  readonly isStateful?: boolean;
  /** Returns the members of a body that upstreams of other makers get changed. */
  membersForOthers?(body: Readonly<Fields>): Fields;
  /** Creates a reader of one answer, which names `model` to the caller. */
  reader(model: string): NativeReader;
}

/** Reads and rewrites one answer. */
export interface NativeReader {
  /** Takes an event of a stream, which it may change. Throws a NativeError. */
  readEvent(event: Fields): NativeEvent;
  /** Takes an answer that is not streamed, which it may change. Throws a NativeError for anything else. */
  readComplete(answer: Fields): void;
  /** The upstream's report; undefined before it. */
  readonly usage: TokenUsage | undefined;
}

export interface NativeEvent {
  /** Whether the event differs from the upstream's. */
  isChanged: boolean;
  /** Whether the answer is complete. */
  isLast: boolean;
  /** Bytes of generated text. */
  textBytes: number;
}

/** Failure that an answer reports; undefined `message`: it is not an answer of this format. */
export class NativeError extends Error {
  override readonly name = "NativeError";
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}
