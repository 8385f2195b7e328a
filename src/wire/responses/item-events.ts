/** Output items of tools that this service runs, among the parts of the model's answer. */

import type { PartEvent } from "../answer-parts.ts";

export interface ServiceItem {
  id: string;
  type: string;
  [field: string]: unknown;
}

/** Event of an item, such as `response.mcp_call.completed`; the response adds the item's ID and position. */
export interface ItemProgress {
  type: string;
  [field: string]: unknown;
}

export type ItemEvent =
  | { type: "item-start"; item: ServiceItem }
  | { type: "item-event"; id: string; event: ItemProgress }
  /** `text`: what the model reads of a result. */
  | { type: "item-stop"; item: ServiceItem; text?: string }
  /** Citations of the text that is about to end. */
  | { type: "annotations"; annotations: readonly Annotation[] };

/** Citation in a text, such as a `file_citation` or `url_citation`. */
export interface Annotation {
  type: string;
  [field: string]: unknown;
}

export type ResponsePart = PartEvent | ItemEvent;
