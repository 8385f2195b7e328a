import type { ChatEvent, FinishReason, TokenLogprob } from "../../src/engines/chat-model.ts";

type Finish = Extract<ChatEvent, { type: "finish" }>;

export interface ReadAnswer {
  events: ChatEvent[];
  /** The first choice's text, whichever kind of events told it. */
  text: string;
  finish: Finish | undefined;
  /** Why the first choice ended. */
  reason: string | null | undefined;
}

/** Reads to the end. Throws what the events throw, and when a frame holds half a character or is not JSON. */
export async function readAnswer(events: AsyncIterable<ChatEvent>): Promise<ReadAnswer> {
  const read: ChatEvent[] = [];
  for await (const event of events) read.push(event);
  const finish = read.find((event) => event.type === "finish");
  return { events: read, text: read.map(textOf).join(""), finish, reason: read.map(reasonOf).findLast(Boolean) };
}

export function textOf(event: ChatEvent): string {
  if (event.type === "text") return event.text;
  if (event.type === "wire-frames") {
    return framesOf(event.frames)
      .map((frame) => (frame as Chunk).choices?.[0]?.delta?.content ?? "")
      .join("");
  }
  if (event.type === "finish") return firstChoice(event)?.message.content ?? "";
  return "";
}

/** What frames in OpenAI's format say, in the contract's own events; the others as they are. */
export function asContractEvents(events: readonly ChatEvent[]): ChatEvent[] {
  return events.flatMap((event) => {
    if (event.type !== "wire-frames") return [event];
    const { completionTokens } = event;
    return framesOf(event.frames).flatMap((frame) =>
      ((frame as Chunk).choices ?? []).flatMap(({ index: choice = 0, delta, logprobs, finish_reason: reason }) => {
        const told = (logprobs?.content ?? []).map(({ top_logprobs: top, ...token }) => ({ ...token, top }));
        const said = delta?.content
          ? { type: "text" as const, choice, text: delta.content, completionTokens }
          : undefined;
        return [
          ...(said === undefined ? [] : [{ ...said, logprobs: told }]),
          ...(reason ? [{ type: "choice-end" as const, choice, reason: reason as FinishReason }] : []),
        ];
      }),
    );
  });
}

function reasonOf(event: ChatEvent): string | null | undefined {
  if (event.type === "choice-end" && event.choice === 0) return event.reason;
  if (event.type === "wire-frames") {
    return framesOf(event.frames)
      .map((frame) => (frame as Chunk).choices?.[0]?.finish_reason)
      .findLast(Boolean);
  }
  return event.type === "finish" ? firstChoice(event)?.finish_reason : undefined;
}

/** Of an answer in OpenAI's format that was not streamed. */
function firstChoice({ completion }: Finish): Completion["choices"][number] | undefined {
  return (completion?.fields as Completion | undefined)?.choices[0];
}

interface Chunk {
  choices?: {
    index?: number;
    delta?: { content?: string | null };
    logprobs?: { content: (Omit<TokenLogprob, "top"> & { top_logprobs: TokenLogprob["top"] })[] } | null;
    finish_reason?: string | null;
  }[];
}
interface Completion {
  choices: { message: { content: string | null }; finish_reason: string | null }[];
}

/** The parsed `data` of each SSE frame. */
export function framesOf(bytes: Uint8Array): Record<string, unknown>[] {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  if (!text.endsWith("\n\n")) throw new Error(`not whole frames: ${text.slice(-80)}`);
  return text
    .slice(0, -2)
    .split("\n\n")
    .map((frame) => JSON.parse(frame.slice("data: ".length)));
}
