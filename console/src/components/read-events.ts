import { EventSourceParserStream } from "eventsource-parser/stream";
import { t } from "../i18n/translate.ts";

/**
 * Reads the server-sent events of a response as JSON. `endsWithDone`: throws when the connection ends before `[DONE]`,
 * such as when the service stops.
 */
export async function* readEvents<Event>(response: Response, endsWithDone = false): AsyncGenerator<Event> {
  const reader = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  if (reader === undefined) return;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    if (value.data === "[DONE]") return;
    yield JSON.parse(value.data) as Event;
  }
  if (endsWithDone) throw new Error(t("The connection ended before the answer was complete."));
}
