/** The chats of one request for decisions, which counts as one request. */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Caller } from "../../contracts/caller.ts";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import type { ChatEvent, ChatRequest, TokenLogprob } from "../../contracts/chat-model.ts";
import { messageText } from "../../contracts/message-text.ts";
import type { CallerHeaders } from "../../contracts/open-model.ts";
import type { ChatAnswer } from "../../inference/chat-call.ts";
import type { Inference } from "../../inference/inference.ts";
import type { OnDisconnect } from "../../inference/on-disconnect.ts";
import type { CountedRequest } from "../../inference/quota.ts";
import { RequestRecording } from "../../inference/recording/request-recording.ts";
import type { Settlement } from "../../inference/settlement.ts";
import { unsupportedValue } from "../../kernel/faults.ts";
import { addTokens, type TokenUsage } from "../../kernel/usage.ts";
import { toModerationInput } from "../../wire/moderation-input.ts";
import { probabilitiesOf } from "../../wire/openai/decisions/decision-probabilities.ts";
import { questionIn } from "../../wire/openai/decisions/decision-prompts.ts";
import { combineSettlements } from "../tools/index.ts";

export interface DecisionCaller {
  inference: Inference;
  caller: Caller;
  callerHeaders: CallerHeaders;
  onDisconnect: OnDisconnect;
  /** The request, if it counts already. */
  counted: CountedRequest | undefined;
}

export interface AskedQuestion {
  /** As the guardrails left it. */
  text: string;
  /** Whether guardrails changed nothing in it. */
  isAsSent: boolean;
}

/** Most that OpenAI's API reports. */
const TOP_LOGPROBS = 20;

interface FirstToken {
  text: string;
  logprob: TokenLogprob | undefined;
  isRefusal: boolean;
}

export class QuestionChats {
  /** Record of the first chat; undefined: it is not recorded. */
  recording: RequestRecording | undefined;
  /** Questions that models were asked, by their index, where they are recorded. */
  readonly questionTexts = new Map<number, AskedQuestion>();
  readonly #caller: DecisionCaller;
  readonly #base: ChatRequest;
  readonly #settlements: (() => Settlement | undefined)[] = [];
  #first: ChatAnswer | undefined;
  #usage: TokenUsage | undefined;
  /** Set once the model has reasoned in place of an answer. */
  #reasoningEffort: "none" | undefined;
  /** What the first chat that failed threw. */
  #failure: { reason: unknown } | undefined;

  constructor(caller: DecisionCaller, base: ChatRequest) {
    this.#caller = caller;
    this.#base = base;
  }

  /**
   * Resolves with the probability of each label; undefined: a refusal. Throws a Fault, which each later call throws too:
   * no answer needs what they would ask. `index`: of the question.
   */
  async ask(index: number, messages: ChatMessage[], labels: readonly string[]): Promise<number[] | undefined> {
    // Answers of the cache come without a turn of the event loop, and there may be thousands about a long input.
    await nextTurn();
    if (this.#failure !== undefined) throw this.#failure.reason;
    try {
      return await this.#ask(index, messages, labels);
    } catch (reason) {
      this.#failure ??= { reason };
      throw this.#failure.reason;
    }
  }

  async #ask(index: number, messages: ChatMessage[], labels: readonly string[]): Promise<number[] | undefined> {
    // Questions side by side may each find out that the model reasons.
    const effort = this.#reasoningEffort;
    let first = await this.#firstToken(index, messages);
    if (first.text === "" && !first.isRefusal && effort === undefined) {
      this.#reasoningEffort = "none";
      first = await this.#firstToken(index, messages);
    }
    if (first.isRefusal) return undefined;
    if (first.logprob === undefined) throw withoutLogprobs(first.text === "");
    return probabilitiesOf(labels, first.logprob);
  }

  /** The answer to the first chat, and what all have used; at least one was asked. */
  end(): { first: ChatAnswer; usage: TokenUsage } {
    return { first: this.#first as ChatAnswer, usage: this.#usage as TokenUsage };
  }

  /** Settlement of all chats; undefined while one runs. */
  settlement(): Settlement | undefined {
    return combineSettlements(this.#settlements);
  }

  async #firstToken(index: number, messages: ChatMessage[]): Promise<FirstToken> {
    const request: ChatRequest = {
      ...this.#base,
      ...{ messages, topLogprobs: TOP_LOGPROBS, reasoningEffort: this.#reasoningEffort },
    };
    const { inference, caller, counted } = this.#caller;
    const isFirst = this.#first === undefined;
    // One record has all questions: those of later chats would repeat the input.
    const recording = isFirst || this.recording === undefined ? undefined : new RequestRecording(this.recording);
    try {
      const answer = await inference.chat(
        caller,
        { request, hidesTokens: true, moderationInput: () => toModerationInput(request) },
        {
          ...{ moderation: undefined, onDisconnect: this.#onDisconnect, isWithinRequest: !isFirst, counted },
          ...(!isFirst && { recording: recording ?? null }),
        },
      );
      this.#first ??= answer;
      this.#settlements.push(answer.settlement);
      const first: FirstToken = { text: "", logprob: undefined, isRefusal: false };
      for await (const event of answer.events) this.#read(event, first);
      return first;
    } finally {
      this.#noteQuestion(index, messages, isFirst ? this.recording : recording);
    }
  }

  /** A question that a guardrail blocked has no content. */
  #noteQuestion(index: number, messages: readonly ChatMessage[], recording: RequestRecording | undefined): void {
    const [sent, read] = [messages.at(-1), recording?.content()?.inputMessages.at(-1)];
    if (sent === undefined || read === undefined || this.questionTexts.has(index)) return;
    const text = questionIn(read.parts.map((part) => (part.type === "text" ? part.content : "")).join(""));
    // A copy: a part of a string keeps all of it in memory, and there may be 400 with the input.
    const copy = Buffer.from(text).toString();
    this.questionTexts.set(index, { text: copy, isAsSent: text === questionIn(messageText(sent)) });
  }

  #read(event: ChatEvent, first: FirstToken): void {
    if (event.type === "text") {
      first.text += event.text;
      first.logprob ??= event.logprobs?.[0];
      if (event.isRefusal === true) first.isRefusal = true;
    } else if (event.type === "choice-end" && event.reason === "content_filter") first.isRefusal = true;
    else if (event.type === "finish") {
      this.#usage = this.#usage === undefined ? event.usage : addTokens(this.#usage, event.usage);
    }
  }

  readonly #onDisconnect: OnDisconnect = (leave, settlement, guardrails, recording) => {
    if (recording !== undefined) this.recording = recording;
    // What the chats so far have used counts, also when a later one fails.
    const ofAll = settlement && (() => (this.#settlements.length === 0 ? settlement() : this.settlement()));
    this.#caller.onDisconnect(leave, ofAll, guardrails, recording);
  };
}

function withoutLogprobs(hasReasoned: boolean) {
  const message = hasReasoned
    ? "This model reasons before it answers, so its first token decides nothing: use a model that does not, or whose reasoning can be turned off."
    : "This model does not report log probabilities, from which decisions are read.";
  return unsupportedValue(message, "model");
}
