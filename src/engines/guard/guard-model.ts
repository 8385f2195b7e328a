/** Asks a guard language model about each text and reads its verdict. */

import { Fault } from "../../faults.ts";
import type { ChatModel, ChatRequest } from "../chat-model.ts";
import type { ModerationInput, ModerationModel, ModerationVerdict } from "../engine.ts";
import { PLAIN_REQUEST } from "../plain-chat.ts";
import type { GuardFormat, GuardQuestion } from "./formats.ts";
import { harmProbability, type TokenChoices, tokensOf } from "./harm-probability.ts";

export interface GuardOptions {
  /** Sent as `model` to upstreams that take it. */
  name: string;
  thresholds: Readonly<Record<string, number>>;
  parallel: number;
}

const FLAGGED_FROM = 0.5;
/** Enough that both words of a verdict are among them. */
const ALTERNATIVES = 10;

export class GuardModel implements ModerationModel {
  readonly task = "moderation";
  readonly slots = undefined;
  readonly takesImages = false;
  readonly device: string;
  readonly categories: readonly string[];
  readonly #chat: ChatModel;
  readonly #format: GuardFormat;
  readonly #options: GuardOptions;

  constructor(chat: ChatModel, format: GuardFormat, options: GuardOptions) {
    this.#chat = chat;
    this.#format = format;
    this.#options = options;
    this.device = chat.device;
    this.categories = format.categories;
  }

  async moderate(inputs: readonly ModerationInput[], signal: AbortSignal): Promise<readonly ModerationVerdict[]> {
    const scores = inputs.map((): Record<string, number> => ({}));
    const asked = inputs.flatMap(({ text }, index) =>
      text.trim() === ""
        ? []
        : this.#format.questions.map((question) => ({ text, question, into: scores[index] ?? {} })),
    );
    const next = asked[Symbol.iterator]();
    const failed = new AbortController();
    const until = AbortSignal.any([signal, failed.signal]);
    const work = async () => {
      for (const { text, question, into } of next) {
        if (until.aborted) return;
        const { harm, categories } = await this.#ask(question, text, until);
        if (until.aborted) return;
        for (const category of categories) into[category] = Math.max(into[category] ?? 0, harm);
      }
    };
    try {
      await Promise.all(Array.from({ length: this.#options.parallel }, work));
    } finally {
      failed.abort();
    }
    return scores.map((found) => this.#verdict(found));
  }

  async #ask(question: GuardQuestion, text: string, signal: AbortSignal) {
    const messages = question.messages(text);
    const { maxTokens, verdictWords } = this.#format;
    const request: ChatRequest = {
      ...PLAIN_REQUEST,
      model: this.#options.name,
      messages,
      maxTokens,
      temperature: 0,
      // Asked of an engine that has none, they would be refused.
      topLogprobs: this.#chat.abilities.logprobs === true ? ALTERNATIVES : undefined,
      wire: {
        model: this.#options.name,
        messages,
        max_tokens: maxTokens,
        temperature: 0,
        logprobs: true,
        top_logprobs: ALTERNATIVES,
      },
    };
    let answer = "";
    let tokens: readonly TokenChoices[] = [];
    for await (const event of this.#chat.chat(request, signal)) {
      if (event.type === "text") {
        answer += event.text;
        tokens = [...tokens, ...(event.logprobs ?? [])];
      }
      if (event.type === "wire-completion") {
        const { message, logprobs } = firstChoice(event.completion);
        answer = message;
        tokens = tokensOf(logprobs);
      }
    }
    if (signal.aborted) return { harm: 0, categories: [] };
    return withProbability(readAnswer(question, answer), harmProbability(tokens, verdictWords));
  }

  #verdict(found: Readonly<Record<string, number>>): ModerationVerdict {
    const { thresholds } = this.#options;
    const every = <Value>(of: (category: string) => Value) =>
      Object.fromEntries(this.categories.map((category) => [category, of(category)]));
    return {
      scores: every((category) => found[category] ?? 0),
      flags: every((category) => (found[category] ?? 0) >= (thresholds[category] ?? FLAGGED_FROM)),
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
    // Never counted as harmless: what the model meant is unknown.
    throw new Fault("upstream-failed", "The guard model's answer is no verdict. Check that its `family` is right.", {
      cause,
    });
  }
}

/** The verdict's own probability, where the engine gives it, says more than the word. */
function withProbability<Answer extends { harm: number }>(answer: Answer, harm: number | undefined): Answer {
  return harm === undefined || answer.harm === 0.5 ? answer : { ...answer, harm };
}

function firstChoice(completion: Readonly<Record<string, unknown>>): { message: string; logprobs: unknown } {
  type Choice = { message?: { content?: unknown }; logprobs?: unknown };
  const [choice] = Array.isArray(completion.choices) ? (completion.choices as Choice[]) : [];
  const content = choice?.message?.content;
  return { message: typeof content === "string" ? content : "", logprobs: choice?.logprobs };
}
