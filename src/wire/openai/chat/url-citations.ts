import type { AnswerOf } from "../../openapi/named.ts";
import type { Annotation } from "../../responses/item-events.ts";
import type { UrlCitation } from "./completion-answers.ts";

/** Renders citations of a search in the shape of chats. */
export function toUrlCitations(annotations: readonly Annotation[]): AnswerOf<typeof UrlCitation>[] {
  return annotations.map(({ url, title, start_index, end_index }) => ({
    type: "url_citation",
    url_citation: {
      url: String(url),
      title: String(title),
      start_index: Number(start_index),
      end_index: Number(end_index),
    },
  }));
}
