import type { TokenUsage } from "../../usage.ts";
import type { UpstreamError } from "./upstream-error.ts";

/** Turns the frames of a streamed answer into events: bytes to forward, or typed ones. */
export interface FrameSink<Event> {
  /** The upstream has sent `[DONE]`; what follows is not read. */
  readonly isDone: boolean;
  /** Whether each choice has ended; an answer that breaks off before is incomplete. */
  readonly isComplete: boolean;
  /** What is wrong with the stream, found behind the events that the last `take` gave. */
  readonly failure: UpstreamError | undefined;
  /** The upstream's own; undefined until it has reported one. */
  readonly usage: TokenUsage | undefined;
  /** Completion tokens up to now, for an upstream that reports no usage. */
  readonly estimatedTokens: number;
  /** `frames` as `SseFrames` cuts them. */
  take(frames: string): readonly Event[];
  finish(usage: TokenUsage): readonly Event[];
}
