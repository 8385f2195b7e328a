import type { TokenUsage } from "../../../kernel/usage.ts";
import type { UpstreamError } from "../upstream-error.ts";

/** Turns the frames of a streamed answer into events: bytes to forward, or typed ones. */
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
  /** `frames` as `SseFrames` cuts them. */
  take(frames: string): readonly Event[];
  finish(usage: TokenUsage): readonly Event[];
}
