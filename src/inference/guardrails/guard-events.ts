/** Runs the texts of an answer through transforms, and holds back only what they hold back. */

import type { ChatEvent, TokenLogprob } from "../../contracts/chat-model.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { OutputBlocked } from "./mask-complete.ts";
import type { OutputTransform } from "./output-transforms.ts";

type TextEvent = Extract<ChatEvent, { type: "text" | "reasoning" | "tool-arguments" }>;

export interface GuardEventsOptions {
  /** Returns the transforms for one text of one choice. */
  transformsFor: (part: TextEvent) => OutputTransform[];
  choices: number;
  /** Called when an answer is blocked, before the model is stopped; returns its usage until then. */
  onBlocked: () => TokenUsage;
  /** Called when a guardrail fails, before the model is stopped. */
  onFailed: () => void;
  /** Restores a short text at once, such as the stop text that ended a choice. */
  restore: (text: string) => string;
  /** False where log probabilities would show tokens that the guardrails hide. */
  keepsLogprobs: boolean;
}

interface OpenPart {
  key: string;
  transforms: readonly OutputTransform[];
  /** The part's last event, whose form the rest of its text takes. */
  last: TextEvent;
  logprobs: TokenLogprob[];
}

export async function* guardEvents(
  events: AsyncIterable<ChatEvent>,
  options: GuardEventsOptions,
): AsyncGenerator<ChatEvent, void> {
  const parts = new AnswerParts(options);
  let usage: TokenUsage | undefined;
  for await (const event of events) {
    let output: readonly ChatEvent[];
    try {
      output = await parts.guard(event);
    } catch (failure) {
      if (!(failure instanceof OutputBlocked)) {
        options.onFailed();
        throw failure;
      }
      usage = options.onBlocked();
      break;
    }
    yield* output;
  }
  if (usage === undefined) return;
  for (const choice of parts.running) yield { type: "choice-end", choice, reason: "content_filter" };
  yield { type: "finish", usage };
}

class AnswerParts {
  /** Choices that have not ended. */
  readonly running: Set<number>;
  readonly #options: GuardEventsOptions;
  readonly #open = new Map<number, OpenPart>();

  constructor(options: GuardEventsOptions) {
    this.#options = options;
    this.running = new Set(Array.from({ length: options.choices }, (_, choice) => choice));
  }

  /** Returns what takes the place of an event. Throws what a transform throws. */
  async guard(event: ChatEvent): Promise<readonly ChatEvent[]> {
    switch (event.type) {
      case "reasoning":
        if (event.text === "") return [...(await this.#end(event.choice)), event];
        return this.#push(event);
      case "text":
      case "tool-arguments":
        return this.#push(event);
      case "tool-call":
        return [...(await this.#end(event.choice)), { ...event, name: this.#options.restore(event.name) }];
      case "echo":
        return [{ ...event, text: this.#options.restore(event.text) }];
      case "choice-end": {
        const rest = await this.#end(event.choice);
        this.running.delete(event.choice);
        const { stopText } = event;
        return [...rest, stopText === undefined ? event : { ...event, stopText: this.#options.restore(stopText) }];
      }
      case "finish": {
        const rest: ChatEvent[] = [];
        for (const choice of [...this.#open.keys()]) rest.push(...(await this.#end(choice)));
        return [...rest, event];
      }
      default:
        return [event];
    }
  }

  async #push(event: TextEvent): Promise<readonly ChatEvent[]> {
    const key = keyOf(event);
    const isNext = this.#open.get(event.choice)?.key !== key;
    const before = isNext ? await this.#end(event.choice) : [];
    const transforms = () => this.#options.transformsFor(event);
    const part = this.#open.get(event.choice) ?? { key, transforms: transforms(), last: event, logprobs: [] };
    this.#open.set(event.choice, part);
    part.last = event;
    if (event.type === "text" && event.logprobs !== undefined && this.#options.keepsLogprobs) {
      part.logprobs.push(...event.logprobs);
    }
    return [...before, ...toEvents(part, await pushText(part.transforms, event.text))];
  }

  async #end(choice: number): Promise<readonly ChatEvent[]> {
    const part = this.#open.get(choice);
    this.#open.delete(choice);
    return part === undefined ? [] : toEvents(part, await endText(part.transforms));
  }
}

function keyOf(event: TextEvent): string {
  if (event.type === "tool-arguments") return `arguments ${event.index}`;
  return event.type === "text" && event.isRefusal === true ? "refusal" : event.type;
}

/** Returns what of a piece is final after the transforms, in order. */
export async function pushText(transforms: readonly OutputTransform[], piece: string): Promise<string> {
  let text = piece;
  for (const transform of transforms) {
    const output = transform.push(text);
    text = output instanceof Promise ? await output : output;
  }
  return text;
}

/** Ends the first transform, gives what it held to the next one, and so on. */
export async function endText(transforms: readonly OutputTransform[]): Promise<string> {
  let text = "";
  for (const transform of transforms) text = (await transform.push(text)) + (await transform.end());
  return text;
}

/** Log probabilities go with the text that follows them. Their tokens are the model's, with its placeholders. */
function toEvents(part: OpenPart, text: string): ChatEvent[] {
  if (text === "") return [];
  const { last } = part;
  if (last.type !== "text") return [{ ...last, text }];
  const { logprobs: _, ...event } = last;
  const logprobs = part.logprobs;
  part.logprobs = [];
  return [{ ...event, text, ...(logprobs.length > 0 && { logprobs }) }];
}
