/** Contract of models that score texts and images for harmful content. Types only. */

import type { CallerHeaders, OpenModel } from "./open-model.ts";

export interface ModerationModel extends OpenModel {
  readonly task: "moderation";
  /** Undefined when an upstream does not report them. */
  readonly categories: readonly string[] | undefined;
  /** Score from which each category is flagged; undefined when an upstream does not report them. */
  readonly thresholds: Readonly<Record<string, number>> | undefined;
  readonly takesImages: boolean;
  /** ISO 639-1 codes of the languages that it scores reliably; undefined when unknown, for which no text is checked. */
  readonly languages: readonly string[] | undefined;
  /**
   * Returns one verdict for each input, in order. Throws a Fault when part of an input cannot be scored.
   */
  moderate(
    inputs: readonly ModerationInput[],
    signal: AbortSignal,
    context?: ModerationContext,
  ): Promise<readonly ModerationVerdict[]>;
}

export interface ModerationContext {
  /** The requested catalog ID. */
  model: string;
  /** Project that the request counts for; requests of several projects take turns. */
  project: string;
  callerHeaders?: CallerHeaders | undefined;
}

/** Text and images, scored together. Images are URLs or data URLs; none for a model that takes no images. */
export interface ModerationInput {
  text: string;
  images: readonly string[];
}

/** Each map has an entry for every category that the model scores. */
export interface ModerationVerdict {
  /** 0 to 1. */
  scores: Readonly<Record<string, number>>;
  flags: Readonly<Record<string, boolean>>;
  /** Parts of the input that the score covers. */
  appliedTo: Readonly<Record<string, ReadonlyArray<"text" | "image">>>;
  /** Name of the input's language if the model certainly does not know it. */
  unsupportedLanguage?: string;
  /** True if a part of the model did not judge in time, or failed: a later verdict may differ. */
  isProvisional?: boolean;
}
