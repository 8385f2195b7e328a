import type { ChatEvent } from "../../../src/contracts/chat-model.ts";
import type { ForwardedEvent } from "../../../src/contracts/chat-proxy.ts";
import { parseEvents } from "../../../src/kernel/server-sent-events.ts";

type AnswerEvent = ChatEvent | ForwardedEvent;

export interface ReadAnswer<Event extends AnswerEvent = ChatEvent> {
  events: Event[];
  /** The first choice's text, from events of any kind. */
  text: string;
  finish: Extract<Event, { type: "finish" }> | undefined;
  /** Why the first choice ended. */
  reason: string | null | undefined;
}

/** Reads to the end. Throws what the events throw, and when a frame holds half a character or is not JSON. */
export async function readAnswer<Event extends AnswerEvent>(events: AsyncIterable<Event>): Promise<ReadAnswer<Event>> {
  const read: Event[] = [];
  for await (const event of events) read.push(event);
  const finish = read.find((event) => event.type === "finish") as Extract<Event, { type: "finish" }> | undefined;
  return { events: read, text: read.map(textOf).join(""), finish, reason: read.map(reasonOf).findLast(Boolean) };
}

export function textOf(event: AnswerEvent): string {
  if (event.type === "text") return event.choice === 0 ? event.text : "";
  if (event.type === "frames") {
    return framesOf(event.frames)
      .map((frame) => (frame as Chunk).choices?.[0]?.delta?.content ?? "")
      .join("");
  }
  return firstChoice(event)?.message.content ?? "";
}

function reasonOf(event: AnswerEvent): string | null | undefined {
  if (event.type === "choice-end" && event.choice === 0) return event.reason;
  if (event.type === "frames") {
    return framesOf(event.frames)
      .map((frame) => (frame as Chunk).choices?.[0]?.finish_reason)
      .findLast(Boolean);
  }
  return firstChoice(event)?.finish_reason;
}

/** Body of a forwarded answer that was not streamed. */
function firstChoice(event: AnswerEvent): Completion["choices"][number] | undefined {
  if (event.type !== "finish" || !("completion" in event)) return undefined;
  return (event.completion?.fields as Completion | undefined)?.choices[0];
}

interface Chunk {
  choices?: { delta?: { content?: string | null }; finish_reason?: string | null }[];
}
interface Completion {
  choices: { message: { content: string | null }; finish_reason: string | null }[];
}

/** The parsed `data` of each event. Throws for half a character and an incomplete event. */
export function framesOf(bytes: Uint8Array): Record<string, unknown>[] {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  if (!text.endsWith("\n\n")) throw new Error(`incomplete frames: ${text.slice(-80)}`);
  return parseEvents(text).map(({ data }) => JSON.parse(data));
}
