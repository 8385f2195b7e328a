/** Moderates an answer while it streams, and holds back only text that is not moderated yet. */

import type { AnswerText, TextDelta } from "../../contracts/answer-text.ts";
import type { ModerationVerdict } from "../../contracts/moderation-model.ts";
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
/**
 * Characters of preceding text included as context in each call. Together, they are less than the longest text about
 * which the built-in cascade asks its guard.
 */
const CONTEXT_CHARACTERS = 700;

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
  const unchecked = new UncheckedText();
  let heldEvents: Event[] = [];
  let highest: ModerationVerdict | undefined;
  for await (const event of events) {
    for (const delta of answerText.textsOf(event)) unchecked.append(delta);
    heldEvents.push(event);
    const isOver = event.type === "finish";
    if (!isOver && unchecked.length < HELD_CHARACTERS) continue;
    if (unchecked.length > 0 || (isOver && highest === undefined)) {
      const verdict = await moderate(unchecked.withContext());
      highest = mergeVerdicts(highest, verdict);
      take(highest);
      if (Object.values(verdict.flags).some(Boolean)) {
        const usage = onBlocked();
        yield* answerText.endBlocked(heldEvents, [...open]);
        yield isOver ? answerText.withoutText(event) : answerText.finish(usage);
        return;
      }
    }
    for (const choice of heldEvents.flatMap((each) => [...answerText.endedIn(each)])) open.delete(choice);
    yield* heldEvents;
    heldEvents = [];
    unchecked.pass();
  }
}

/** Text that is not checked yet, by its part of the answer, and the end of what was checked before it. */
class UncheckedText {
  length = 0;
  readonly #contexts = new Map<string, string>();
  readonly #fresh = new Map<string, string>();

  append(delta: TextDelta): void {
    if (delta.text === "") return;
    append(this.#fresh, delta);
    this.length += delta.text.length;
  }

  /** An answer without text has one empty text. */
  withContext(): string[] {
    const texts = [...this.#fresh].map(([part, text]) => (this.#contexts.get(part) ?? "") + text);
    return texts.length === 0 ? [""] : texts;
  }

  /** Makes the text the context of what follows. */
  pass(): void {
    for (const [part, text] of this.#fresh) {
      this.#contexts.set(part, ((this.#contexts.get(part) ?? "") + text).slice(-CONTEXT_CHARACTERS));
    }
    this.#fresh.clear();
    this.length = 0;
  }
}

function append(texts: Map<string, string>, { choice, part, text }: TextDelta): void {
  const key = `${choice} ${part}`;
  texts.set(key, (texts.get(key) ?? "") + text);
}
