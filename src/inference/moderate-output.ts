/** Judges an answer while it comes, and holds back only what is not judged yet. */

import type { ChatEvent } from "../engines/chat-model.ts";
import type { ModerationVerdict } from "../engines/engine.ts";

/** Reads and writes the wire format, which is not known here. */
export interface FrameReader {
  /** What frames of a stream say, all choices together. */
  textOfFrames(frames: Uint8Array): string;
  textOfCompletion(completion: Readonly<Record<string, unknown>>): string;
  /** A frame that ends the stream which `frames` are of. */
  endBlocked(frames: Uint8Array): Uint8Array;
  /** The completion without its text. */
  emptyBlocked(completion: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

interface OutputOptions<Judgement> {
  reader: FrameReader;
  judge: (text: string) => Promise<Judgement>;
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
  let text = "";
  for await (const event of events) {
    text += textOf(event, reader);
    if (event.type === "finish") take(await judge(text));
    yield event;
  }
}

/** Ends with the finish reason `content_filter` before anything flagged is passed on. */
export async function* blockOutput(
  events: AsyncIterable<ChatEvent>,
  options: OutputOptions<ModerationVerdict>,
): AsyncGenerator<ChatEvent, void> {
  const { reader, judge, take } = options;
  const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, estimated: true };
  let context = "";
  let fresh = "";
  let held: ChatEvent[] = [];
  let highest: ModerationVerdict | undefined;
  for await (const event of events) {
    if (event.type === "start")
      Object.assign(usage, { promptTokens: event.promptTokens, cachedTokens: event.cachedTokens });
    if ("completionTokens" in event) usage.completionTokens = event.completionTokens;
    fresh += textOf(event, reader);
    held.push(event);
    const isOver = event.type === "finish";
    if (!isOver && fresh.length < HELD_CHARACTERS) continue;
    if (fresh !== "" || (isOver && highest === undefined)) {
      const verdict = await judge(context + fresh);
      highest = higher(highest, verdict);
      take(highest);
      if (Object.values(verdict.flags).some(Boolean)) {
        yield* replaced(held, reader);
        yield { type: "choice-end", choice: 0, reason: "content_filter" };
        yield { type: "finish", usage };
        return;
      }
    }
    yield* held;
    held = [];
    context = (context + fresh).slice(-CONTEXT_CHARACTERS);
    fresh = "";
  }
}

/** What stands in place of held events that are never shown. */
function* replaced(held: readonly ChatEvent[], reader: FrameReader): Generator<ChatEvent, void> {
  for (const event of held) {
    if (event.type === "start") yield event;
    if (event.type === "wire-completion") yield { ...event, completion: reader.emptyBlocked(event.completion) };
  }
  const last = held.findLast((event) => event.type === "wire-frames");
  if (last?.type === "wire-frames") yield { ...last, frames: reader.endBlocked(last.frames) };
}

function higher(one: ModerationVerdict | undefined, other: ModerationVerdict): ModerationVerdict {
  if (one === undefined) return other;
  const best = (category: string) => ((one.scores[category] ?? 0) > (other.scores[category] ?? 0) ? one : other);
  const every = <Value>(of: (category: string) => Value) =>
    Object.fromEntries(Object.keys(other.scores).map((category) => [category, of(category)]));
  return {
    scores: every((category) => best(category).scores[category] ?? 0),
    flags: every((category) => best(category).flags[category] ?? false),
    appliedTo: every((category) => best(category).appliedTo[category] ?? []),
  };
}

function textOf(event: ChatEvent, reader: FrameReader): string {
  if (event.type === "text") return event.text;
  if (event.type === "wire-frames") return reader.textOfFrames(event.frames);
  return event.type === "wire-completion" ? reader.textOfCompletion(event.completion) : "";
}
