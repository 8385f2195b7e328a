/** Judges an answer while it comes, and holds back only what is not judged yet. */

import type { ChatEvent } from "../engines/chat-model.ts";
import type { ModerationVerdict } from "../engines/engine.ts";
import { toWireCompletion, type WireCompletion } from "../engines/wire-completion.ts";
import type { TokenUsage } from "../usage.ts";
import { higher } from "./higher-verdict.ts";

/** What one choice of an answer says, thinks or hands to a tool. */
interface Said {
  choice: number;
  /** Which of these it is: the pieces of each are one text. */
  part: string;
  text: string;
}

/** Reads and writes the wire format, which is not known here. */
export interface FrameReader {
  textsOfFrames(frames: Uint8Array): readonly Said[];
  /** The choices that end in these frames. */
  endedIn(frames: Uint8Array): readonly number[];
  textsOfCompletion(completion: Readonly<Record<string, unknown>>): readonly Said[];
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
  const texts = new Map<string, string>();
  for await (const event of events) {
    for (const said of saidIn(event, reader)) append(texts, said);
    if (event.type === "finish") take(await judge(texts.size === 0 ? [""] : [...texts.values()]));
    yield event;
  }
}

interface BlockOptions extends OutputOptions<ModerationVerdict> {
  choices: number;
  /** Called once the model is to write no more, before it is stopped; gives what it used until then. */
  onBlocked: () => TokenUsage;
}

/** Ends with the finish reason `content_filter`, in all of `choices`, before anything flagged is passed on. */
export async function* blockOutput(
  events: AsyncIterable<ChatEvent>,
  { reader, judge, take, choices, onBlocked }: BlockOptions,
): AsyncGenerator<ChatEvent, void> {
  const open = new Set(Array.from({ length: choices }, (_, choice) => choice));
  const contexts = new Map<string, string>();
  const fresh = new Map<string, string>();
  let freshLength = 0;
  let held: ChatEvent[] = [];
  let highest: ModerationVerdict | undefined;
  for await (const event of events) {
    for (const said of saidIn(event, reader)) {
      if (said.text === "") continue;
      append(fresh, said);
      freshLength += said.text.length;
    }
    held.push(event);
    const isOver = event.type === "finish";
    if (!isOver && freshLength < HELD_CHARACTERS) continue;
    if (freshLength > 0 || (isOver && highest === undefined)) {
      const texts = [...fresh].map(([part, text]) => (contexts.get(part) ?? "") + text);
      const verdict = await judge(texts.length === 0 ? [""] : texts);
      highest = higher(highest, verdict);
      take(highest);
      if (Object.values(verdict.flags).some(Boolean)) {
        const usage = onBlocked();
        yield* replaced(held, reader, [...open]);
        yield isOver ? withoutText(event, reader) : { type: "finish", usage };
        return;
      }
    }
    for (const each of held) for (const choice of endedIn(each, reader)) open.delete(choice);
    yield* held;
    held = [];
    for (const [part, text] of fresh) {
      contexts.set(part, ((contexts.get(part) ?? "") + text).slice(-CONTEXT_CHARACTERS));
    }
    fresh.clear();
    freshLength = 0;
  }
}

function append(texts: Map<string, string>, { choice, part, text }: Said): void {
  const key = `${choice} ${part}`;
  texts.set(key, (texts.get(key) ?? "") + text);
}

/** What stands in place of held events that are never shown. */
function* replaced(
  held: readonly ChatEvent[],
  reader: FrameReader,
  open: readonly number[],
): Generator<ChatEvent, void> {
  for (const event of held) {
    if (event.type === "start") yield event;
  }
  const last = held.findLast((event) => event.type === "wire-frames");
  if (last?.type === "wire-frames") yield { ...last, frames: reader.endBlocked(last.frames, open) };
  else if (!held.some(isWhole)) {
    for (const choice of open) yield { type: "choice-end", choice, reason: "content_filter" };
  }
}

function withoutText(event: ChatEvent, reader: FrameReader): ChatEvent {
  return isWhole(event)
    ? { ...event, completion: toWireCompletion(reader.emptyBlocked(event.completion.fields)) }
    : event;
}

type WholeAnswer = Extract<ChatEvent, { type: "finish" }> & { completion: WireCompletion };

function isWhole(event: ChatEvent): event is WholeAnswer {
  return event.type === "finish" && event.completion !== undefined;
}

function endedIn(event: ChatEvent, reader: FrameReader): readonly number[] {
  if (event.type === "choice-end") return [event.choice];
  return event.type === "wire-frames" ? reader.endedIn(event.frames) : [];
}

function saidIn(event: ChatEvent, reader: FrameReader): readonly Said[] {
  switch (event.type) {
    case "text":
    case "reasoning":
      return [{ ...event, part: event.type }];
    case "tool-arguments":
      return [{ ...event, part: `arguments ${event.index}` }];
    case "wire-frames":
      return reader.textsOfFrames(event.frames);
    case "finish":
      return isWhole(event) ? reader.textsOfCompletion(event.completion.fields) : [];
    default:
      return [];
  }
}
