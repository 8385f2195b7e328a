/** An output item of a response, which grows with the answer. */

import type { TokenLogprob } from "../../contracts/chat-model.ts";
import type { Annotation } from "./item-events.ts";

export interface ResponseEvent {
  type: string;
  [field: string]: unknown;
}

export type ItemStatus = "in_progress" | "completed" | "incomplete";

export interface OutputItem {
  /** Renders the item in its present state. */
  toJson(status: ItemStatus): Record<string, unknown>;
  begin(): ResponseEvent[];
  append(text: string, logprobs: readonly TokenLogprob[]): ResponseEvent[];
  end(): ResponseEvent[];
  /** Adds citations; only of texts. */
  annotate?(annotations: readonly Annotation[]): ResponseEvent[];
  /** Adds what the provider recognizes; of reasoning only. */
  sign?(signature: string): void;
}
