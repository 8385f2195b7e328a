import type { TokenUsage } from "../kernel/usage.ts";

/** A piece of one choice's text, reasoning or tool arguments. */
export interface TextDelta {
  choice: number;
  /** Identifies the text that the piece belongs to. */
  part: string;
  text: string;
}

/** Reads and ends the text of an answer for moderation, whatever its events consist of. */
export interface AnswerText<Event> {
  textsOf(event: Event): readonly TextDelta[];
  /** The choices that end with this event. */
  endedIn(event: Event): readonly number[];
  /** Returns the events that replace held ones when the `open` choices are blocked. */
  endBlocked(held: readonly Event[], open: readonly number[]): readonly Event[];
  /** Returns `event`, the regular end of the answer, without its text. */
  withoutText(event: Event): Event;
  /** Returns the last event of a stopped answer. */
  finish(usage: TokenUsage): Event;
}
