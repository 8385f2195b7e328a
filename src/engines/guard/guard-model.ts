/** Asks a guard language model about each text and reads its verdict. */

import type { ChatModel, ChatRequest, TokenLogprob } from "../../contracts/chat-model.ts";
import { DEFAULT_CHAT_REQUEST } from "../../contracts/default-chat-request.ts";
import type {
  ModerationContext,
  ModerationInput,
  ModerationModel,
  ModerationVerdict,
} from "../../contracts/moderation-model.ts";
import { FairTurns } from "../../kernel/async/fair-turns.ts";
import { Fault } from "../../kernel/faults.ts";
import type { InProcessModule } from "../define-engine.ts";
import { describeGuard, FLAGGED_FROM } from "./describe-guard.ts";
import { GUARD_FORMATS } from "./formats.ts";
import type { GuardAnswer, GuardFormat, GuardQuestion } from "./guard-format.ts";
import { harmProbability } from "./harm-probability.ts";

export interface GuardOptions {
  /** Sent as `model` to upstreams. */
  name: string;
  thresholds: Readonly<Record<string, number>>;
  parallel: number;
}

export interface GuardSettings {
  family: keyof typeof GUARD_FORMATS;
  thresholds: Readonly<Record<string, number>>;
  parallel: number;
}

export const open: InProcessModule<GuardSettings>["open"] = async (settings, _task, { catalogId }, { chat }) => {
  if (chat?.task !== "chat") throw new Error("A guard needs a chat model");
  const { thresholds, parallel } = settings;
  return new GuardModel(chat, GUARD_FORMATS[settings.family], { thresholds, parallel, name: catalogId });
};

/** Enough to include every word of a verdict. */
const ALTERNATIVES = 20;

/**
 * For questions whose sampled token is not read. At 0, which promises repeatable texts, llama-cpp would evaluate up to a
 * batch of the common prefix again for every text.
 */
const SHARED_PREFIX_TEMPERATURE = 0.01;

/** Shorter texts fit into any context window, so splitting them further would not help. */
const MIN_SPLIT_CHARACTERS = 400;
/** Characters in both halves, to keep a phrase at the cut in one piece. */
const OVERLAP_CHARACTERS = 100;

const UNREACHED: ModerationVerdict = { scores: {}, flags: {}, appliedTo: {} };

export class GuardModel implements ModerationModel {
  readonly task = "moderation";
  readonly slots = undefined;
  readonly takesImages = false;
  readonly languages = undefined;
  readonly device: string;
  readonly categories: readonly string[];
  readonly thresholds: Readonly<Record<string, number>>;
  readonly nested: readonly ChatModel[];
  readonly #chat: ChatModel;
  readonly #format: GuardFormat;
  readonly #options: GuardOptions;
  /** No project takes all slots: others would wait in vain. */
  readonly #turns: FairTurns;

  constructor(chat: ChatModel, format: GuardFormat, options: GuardOptions) {
    this.nested = [chat];
    this.#chat = chat;
    this.#format = format;
    this.#options = options;
    const slots = chat.slots ?? Number.POSITIVE_INFINITY;
    this.#turns = new FairTurns({ slots, maxHeld: Math.max(1, slots - 1) });
    this.device = chat.device;
    const { categories, thresholds } = describeGuard(format, options.thresholds);
    this.categories = categories;
    this.thresholds = thresholds;
  }

  /** An input that it has not reached when the signal aborts has no scores. */
  async moderate(
    inputs: readonly ModerationInput[],
    signal: AbortSignal,
    context?: ModerationContext,
  ): Promise<readonly ModerationVerdict[]> {
    const scores = inputs.map((): Record<string, number> => ({}));
    const prompts = inputs.flatMap(({ text }, index) =>
      text.trim() === ""
        ? []
        : this.#format.questions.map((question) => ({ text, question, into: scores[index] ?? {} })),
    );
    const remaining = new Map<Record<string, number>, number>();
    for (const { into } of prompts) remaining.set(into, (remaining.get(into) ?? 0) + 1);
    const next = prompts[Symbol.iterator]();
    const failed = new AbortController();
    const until = AbortSignal.any([signal, failed.signal]);
    const project = context?.project ?? "";
    const work = async () => {
      for (const { text, question, into } of next) {
        const answers = await this.#turns.run(project, until, () => this.#askInParts(question, text, until));
        if (answers === undefined || until.aborted) return;
        raise(into, answers);
        remaining.set(into, (remaining.get(into) ?? 1) - 1);
      }
    };
    try {
      await Promise.all(Array.from({ length: this.#options.parallel }, work));
    } finally {
      failed.abort();
    }
    return scores.map((found) => (remaining.get(found) ? UNREACHED : this.#verdict(found)));
  }

  /** Asks about the text, or recursively about its halves where it exceeds the context window. */
  async #askInParts(question: GuardQuestion, text: string, signal: AbortSignal): Promise<readonly GuardAnswer[]> {
    try {
      return [await this.#ask(question, text, signal)];
    } catch (failure) {
      const isTooLong = failure instanceof Fault && failure.code === "context_length_exceeded";
      const halves = isTooLong ? splitInHalves(text) : [];
      if (halves.length === 0) throw toUpstreamFault(failure);
      const answers: GuardAnswer[] = [];
      for (const half of halves) answers.push(...(await this.#askInParts(question, half, signal)));
      return answers;
    }
  }

  async #ask(question: GuardQuestion, text: string, signal: AbortSignal): Promise<GuardAnswer> {
    const messages = question.messages(text);
    const { maxTokens, verdictWords } = this.#format;
    const readsTokens = question.readTokens !== undefined && this.#chat.abilities.logprobs !== false;
    const request: ChatRequest = {
      ...DEFAULT_CHAT_REQUEST,
      model: this.#options.name,
      messages,
      maxTokens,
      temperature: readsTokens ? SHARED_PREFIX_TEMPERATURE : 0,
      // An engine without log probabilities would refuse the request.
      topLogprobs: this.#chat.abilities.logprobs === false ? undefined : ALTERNATIVES,
    };
    let answer = "";
    let tokens: readonly TokenLogprob[] = [];
    for await (const event of this.#chat.chat(request, signal)) {
      if (event.type !== "text" || event.choice !== 0) continue;
      answer += event.text;
      tokens = [...tokens, ...(event.logprobs ?? [])];
    }
    if (signal.aborted) return { harm: 0, categories: [] };
    const harm = verdictWords && harmProbability(tokens, verdictWords);
    return question.readTokens?.(tokens) ?? withProbability(readAnswer(question, answer), harm);
  }

  #verdict(found: Readonly<Record<string, number>>): ModerationVerdict {
    const every = <Value>(of: (category: string) => Value) =>
      Object.fromEntries(this.categories.map((category) => [category, of(category)]));
    return {
      scores: every((category) => found[category] ?? 0),
      flags: every((category) => (found[category] ?? 0) >= (this.thresholds[category] ?? FLAGGED_FROM)),
      appliedTo: every(() => ["text"] as const),
    };
  }

  health() {
    return this.#chat.health();
  }

  close(): Promise<void> {
    return this.#chat.close();
  }
}

function readAnswer(question: GuardQuestion, answer: string) {
  try {
    return question.read(answer);
  } catch (cause) {
    // An unreadable answer must not count as harmless.
    throw new Fault("answer-unfit", "The guard model's answer contains no verdict. Check the deployment's `family`.", {
      cause,
    });
  }
}

/** Parlance wrote the question, so the caller cannot fix an invalid one. */
function toUpstreamFault(failure: unknown): unknown {
  if (!(failure instanceof Fault) || failure.kind !== "invalid-request") return failure;
  const message = `The guard model refused Parlance's question. Ask the operator to check its settings: ${failure.message}`;
  return new Fault("answer-unfit", message, { code: "upstream_error", cause: failure });
}

/** Refines the verdict with its probability, where the engine reports it, without reversing it. */
function withProbability(answer: GuardAnswer, harm: number | undefined): GuardAnswer {
  if (harm === undefined || answer.harm === 0.5) return answer;
  return { ...answer, harm: answer.harm === 1 ? Math.max(harm, 0.5) : harm };
}

/** Splits a text into two overlapping halves, at white space near the middle if there is any; [] for a short text. */
function splitInHalves(text: string): readonly string[] {
  if (text.length < MIN_SPLIT_CHARACTERS) return [];
  const middle = text.length >> 1;
  const near = /\s/.exec(text.slice(middle, middle + OVERLAP_CHARACTERS))?.index ?? 0;
  const cut = middle + near;
  return [
    text.slice(0, characterStart(text, cut + OVERLAP_CHARACTERS)),
    text.slice(characterStart(text, cut - OVERLAP_CHARACTERS)),
  ];
}

/** Moves an index out of a surrogate pair. */
function characterStart(text: string, index: number): number {
  return /[\uDC00-\uDFFF]/.test(text.charAt(index)) ? index - 1 : index;
}

/** Raises the scores to those of the answers. */
function raise(
  scores: Record<string, number>,
  answers: Iterable<{ harm: number; categories: readonly string[] }>,
): void {
  for (const { harm, categories } of answers) {
    for (const category of categories) scores[category] = Math.max(scores[category] ?? 0, harm);
  }
}
