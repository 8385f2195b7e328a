import type { ForwardedEvent } from "../../contracts/chat-proxy.ts";
import { parseEvents } from "../../kernel/server-sent-events.ts";
import type { OnComplete } from "../forwarded-answer.ts";
import type { ResponseEvent } from "./output-item.ts";
import { type ResponseEvents, toResponseFrame } from "./response-events.ts";

/** Yields the frames of an upstream with the Responses API in a stream that began before the upstream was chosen. */
export async function* toAdoptedFrames(
  bytes: AsyncIterable<ForwardedEvent>,
  begun: ResponseEvents,
  onComplete: OnComplete,
): AsyncGenerator<string> {
  for await (const event of bytes) {
    for (const upstream of eventsOf(event)) {
      const adopted = begun.adopt(upstream);
      if (adopted === undefined) continue;
      if (event.type === "finish") await onComplete(adopted);
      yield toResponseFrame(adopted);
    }
  }
}

function eventsOf(event: ForwardedEvent): ResponseEvent[] {
  if (event.type === "finish") return event.completion === undefined ? [] : [event.completion.fields as ResponseEvent];
  return parseEvents(event.frames).map(({ data }) => JSON.parse(data) as ResponseEvent);
}
