/** Moderates an answer while it streams, and holds back only text that is not moderated yet. */

import type { AnswerText, TextDelta } from "../../contracts/answer-text.ts";
import type { ModerationVerdict } from "../../contracts/engine.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { mergeVerdicts } from "./merge-verdicts.ts";

interface OutputOptions<Event extends { type: string }, Outcome> {
  answerText: AnswerText<Event>;
  moderate: (texts: readonly string[]) => Promise<Outcome>;
  /** Receives the result for the complete answer, or for the part that blocked it. */
  take: (outcome: Outcome) => void;
}

/** Characters moderated together: fewer cost more calls, more delay the reader. */
const HELD_CHARACTERS = 240;
/** Characters of preceding text included as context in each call. */
const CONTEXT_CHARACTERS = 800;

/** Passes on all events and moderates the complete text at the end. */
export async function* scoreOutput<Event extends { type: string }, Outcome>(
  events: AsyncIterable<Event>,
  { answerText, moderate, take }: OutputOptions<Event, Outcome>,
): AsyncGenerator<Event, void> {
  const texts = new Map<string, string>();
  for await (const event of events) {
    for (const delta of answerText.textsOf(event)) append(texts, delta);
    if (event.type === "finish") take(await moderate(texts.size === 0 ? [""] : [...texts.values()]));
    yield event;
  }
}

interface BlockOptions<Event extends { type: string }> extends OutputOptions<Event, ModerationVerdict> {
  choices: number;
  /** Called before the model is stopped; returns its usage until then. */
  onBlocked: () => TokenUsage;
}

/** Ends with the finish reason `content_filter`, in all of `choices`, before anything flagged is passed on. */
export async function* blockOutput<Event extends { type: string }>(
  events: AsyncIterable<Event>,
  { answerText, moderate, take, choices, onBlocked }: BlockOptions<Event>,
): AsyncGenerator<Event, void> {
  const open = new Set(Array.from({ length: choices }, (_, choice) => choice));
  const contexts = new Map<string, string>();
  const fresh = new Map<string, string>();
  let freshLength = 0;
  let heldEvents: Event[] = [];
  let highest: ModerationVerdict | undefined;
  for await (const event of events) {
    for (const delta of answerText.textsOf(event)) {
      if (delta.text === "") continue;
      append(fresh, delta);
      freshLength += delta.text.length;
    }
    heldEvents.push(event);
    const isOver = event.type === "finish";
    if (!isOver && freshLength < HELD_CHARACTERS) continue;
    if (freshLength > 0 || (isOver && highest === undefined)) {
      const texts = [...fresh].map(([part, text]) => (contexts.get(part) ?? "") + text);
      const verdict = await moderate(texts.length === 0 ? [""] : texts);
      highest = mergeVerdicts(highest, verdict);
      take(highest);
      if (Object.values(verdict.flags).some(Boolean)) {
        const usage = onBlocked();
        yield* answerText.endBlocked(heldEvents, [...open]);
        yield isOver ? answerText.withoutText(event) : answerText.finish(usage);
        return;
      }
    }
    for (const each of heldEvents) for (const choice of answerText.endedIn(each)) open.delete(choice);
    yield* heldEvents;
    heldEvents = [];
    for (const [part, text] of fresh) {
      contexts.set(part, ((contexts.get(part) ?? "") + text).slice(-CONTEXT_CHARACTERS));
    }
    fresh.clear();
    freshLength = 0;
  }
}

function append(texts: Map<string, string>, { choice, part, text }: TextDelta): void {
  const key = `${choice} ${part}`;
  texts.set(key, (texts.get(key) ?? "") + text);
}
