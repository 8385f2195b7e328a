/** How a family of guard models is asked, and how its answers are read. Types only. */

import type { TextMessage } from "../../contracts/chat-message.ts";
import type { TokenChoices, VerdictWords } from "./harm-probability.ts";

export interface GuardFormat {
  /** The questions about each text, one prompt each. */
  questions: readonly GuardQuestion[];
  /**
   * Words that begin the verdict, for reading their probabilities; matched case-insensitively. Where a model reasons
   * before it answers, the verdict is the last of them. Left out where the questions read the probabilities.
   */
  verdictWords?: VerdictWords;
  maxTokens: number;
  /** Every category that the family reports. */
  categories: readonly string[];
}

export interface GuardQuestion {
  messages(text: string): TextMessage[];
  /** Throws when the answer is not in the family's format. */
  read(answer: string): GuardAnswer;
  /** Reads a verdict with its probability from the tokens of the answer; undefined: they have no alternatives. */
  readTokens?(tokens: readonly TokenChoices[]): GuardAnswer | undefined;
}

export interface GuardAnswer {
  /** 1: harmful. 0: harmless. Between: the model is not sure. */
  harm: number;
  categories: readonly string[];
}
