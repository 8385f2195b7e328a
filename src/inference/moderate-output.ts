/** Judges an answer while it comes, and holds back only what is not judged yet. */

import type { ChatEvent } from "../engines/chat-model.ts";
import type { ModerationVerdict } from "../engines/engine.ts";
import { higher } from "./higher-verdict.ts";

/** What one choice of an answer says, thinks or hands to a tool. */
interface Said {
  choice: number;
  text: string;
}

/** Reads and writes the wire format, which is not known here. */
export interface FrameReader {
  textsOfFrames(frames: Uint8Array): readonly Said[];
  /** The choices that end in these frames. */
  endedIn(frames: Uint8Array): readonly number[];
  textOfCompletion(completion: Readonly<Record<string, unknown>>): string;
  /** A frame that ends these choices of the stream which `frames` are of. */
  endBlocked(frames: Uint8Array, choices: readonly number[]): Uint8Array;
  /** The completion without its text. */
  emptyBlocked(completion: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

interface OutputOptions<Judgement> {
  reader: FrameReader;
  judge: (texts: readonly string[]) => Promise<Judgement>;
  /** Given what was found in the whole answer, or in the part that blocked it. */
  take: (judgement: Judgement) => void;
}

/** Characters that are let through together: fewer cost more judgements, more make the reader wait longer. */
const HELD_CHARACTERS = 240;
/** Harm shows in its context, so each judgement sees what came just before as well. */
const CONTEXT_CHARACTERS = 800;

/** Passes everything on, and has the whole text judged at the end. */
export async function* scoreOutput<Judgement>(
  events: AsyncIterable<ChatEvent>,
  { reader, judge, take }: OutputOptions<Judgement>,
): AsyncGenerator<ChatEvent, void> {
  const texts = new Map<number, string>();
  for await (const event of events) {
    for (const { choice, text } of saidIn(event, reader)) texts.set(choice, (texts.get(choice) ?? "") + text);
    if (event.type === "finish") take(await judge(texts.size === 0 ? [""] : [...texts.values()]));
    yield event;
  }
}

/** Ends with the finish reason `content_filter`, in all of `choices`, before anything flagged is passed on. */
export async function* blockOutput(
  events: AsyncIterable<ChatEvent>,
  options: OutputOptions<ModerationVerdict> & { choices: number },
): AsyncGenerator<ChatEvent, void> {
  const { reader, judge, take } = options;
  const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, estimated: true };
  const open = new Set(Array.from({ length: options.choices }, (_, choice) => choice));
  const contexts = new Map<number, string>();
  const fresh = new Map<number, string>();
  let freshLength = 0;
  let held: ChatEvent[] = [];
  let highest: ModerationVerdict | undefined;
  for await (const event of events) {
    if (event.type === "start")
      Object.assign(usage, { promptTokens: event.promptTokens, cachedTokens: event.cachedTokens });
    if ("completionTokens" in event) usage.completionTokens = event.completionTokens;
    for (const { choice, text } of saidIn(event, reader)) {
      if (text === "") continue;
      fresh.set(choice, (fresh.get(choice) ?? "") + text);
      freshLength += text.length;
    }
    held.push(event);
    const isOver = event.type === "finish";
    if (!isOver && freshLength < HELD_CHARACTERS) continue;
    if (freshLength > 0 || (isOver && highest === undefined)) {
      const texts = [...fresh].map(([choice, text]) => (contexts.get(choice) ?? "") + text);
      const verdict = await judge(texts.length === 0 ? [""] : texts);
      highest = higher(highest, verdict);
      take(highest);
      if (Object.values(verdict.flags).some(Boolean)) {
        yield* replaced(held, reader, [...open]);
        yield { type: "finish", usage };
        return;
      }
    }
    for (const each of held) for (const choice of endedIn(each, reader)) open.delete(choice);
    yield* held;
    held = [];
    for (const [choice, text] of fresh) {
      contexts.set(choice, ((contexts.get(choice) ?? "") + text).slice(-CONTEXT_CHARACTERS));
    }
    fresh.clear();
    freshLength = 0;
  }
}

/** What stands in place of held events that are never shown. */
function* replaced(
  held: readonly ChatEvent[],
  reader: FrameReader,
  open: readonly number[],
): Generator<ChatEvent, void> {
  for (const event of held) {
    if (event.type === "start") yield event;
    if (event.type === "wire-completion") yield { ...event, completion: reader.emptyBlocked(event.completion) };
  }
  const last = held.findLast((event) => event.type === "wire-frames");
  if (last?.type === "wire-frames") yield { ...last, frames: reader.endBlocked(last.frames, open) };
  else if (!held.some(({ type }) => type === "wire-completion")) {
    for (const choice of open) yield { type: "choice-end", choice, reason: "content_filter" };
  }
}

function endedIn(event: ChatEvent, reader: FrameReader): readonly number[] {
  if (event.type === "choice-end") return [event.choice];
  return event.type === "wire-frames" ? reader.endedIn(event.frames) : [];
}

function saidIn(event: ChatEvent, reader: FrameReader): readonly Said[] {
  switch (event.type) {
    case "text":
    case "reasoning":
    case "tool-arguments":
      return [event];
    case "wire-frames":
      return reader.textsOfFrames(event.frames);
    case "wire-completion":
      return [{ choice: 0, text: reader.textOfCompletion(event.completion) }];
    default:
      return [];
  }
}
