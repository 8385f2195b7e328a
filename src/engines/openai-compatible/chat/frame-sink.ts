import type { TokenUsage } from "../../../kernel/usage.ts";
import type { UpstreamError } from "../upstream-error.ts";

/** Bytes of one frame that are held at most. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;

/** Turns the bytes of a streamed answer into events: bytes to forward, or typed ones. */
export interface FrameSink<Event> {
  /** True after `[DONE]`; anything after it is ignored. */
  readonly isDone: boolean;
  /** True once all choices have ended; an answer that breaks off before is incomplete. */
  readonly isComplete: boolean;
  /** Error in the stream after the events of the last `take`. */
  readonly failure: UpstreamError | undefined;
  /** The upstream's report; undefined before it. */
  readonly usage: TokenUsage | undefined;
  /** Estimate of completion tokens so far, for an upstream that reports no usage. */
  readonly estimatedTokens: number;
  /** Returns undefined while no frame is complete. Throws an EventTooLongError. */
  take(chunks: readonly Buffer[]): readonly Event[] | undefined;
  finish(usage: TokenUsage): readonly Event[];
}
