/** The chats of one request for decisions, which counts as one request. */

import type { Caller } from "../../contracts/caller.ts";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import type { ChatEvent, ChatRequest, TokenLogprob } from "../../contracts/chat-model.ts";
import type { CallerHeaders } from "../../contracts/open-model.ts";
import type { ChatAnswer } from "../../inference/chat-call.ts";
import type { Inference } from "../../inference/inference.ts";
import type { OnDisconnect } from "../../inference/on-disconnect.ts";
import type { RequestRecording } from "../../inference/recording/request-recording.ts";
import type { Settlement } from "../../inference/settlement.ts";
import { unsupportedValue } from "../../kernel/faults.ts";
import { addTokens, type TokenUsage } from "../../kernel/usage.ts";
import { toModerationInput } from "../../wire/moderation-input.ts";
import { probabilitiesOf } from "../../wire/openai/decisions/decision-probabilities.ts";

export interface DecisionCaller {
  inference: Inference;
  caller: Caller;
  callerHeaders: CallerHeaders;
  onDisconnect: OnDisconnect;
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
   * no answer needs what they would ask.
   */
  async ask(messages: ChatMessage[], labels: readonly string[]): Promise<number[] | undefined> {
    if (this.#failure !== undefined) throw this.#failure.reason;
    try {
      return await this.#ask(messages, labels);
    } catch (reason) {
      this.#failure ??= { reason };
      throw this.#failure.reason;
    }
  }

  async #ask(messages: ChatMessage[], labels: readonly string[]): Promise<number[] | undefined> {
    // Questions side by side may each find out that the model reasons.
    const effort = this.#reasoningEffort;
    let first = await this.#firstToken(messages);
    if (first.text === "" && !first.isRefusal && effort === undefined) {
      this.#reasoningEffort = "none";
      first = await this.#firstToken(messages);
    }
    if (first.isRefusal) return undefined;
    if (first.logprob === undefined) throw withoutLogprobs(first.text === "");
    return probabilitiesOf(labels, first.logprob);
  }

  /** What all chats have in common; at least one was asked. */
  end(): { first: ChatAnswer; usage: TokenUsage; settlements: readonly (() => Settlement | undefined)[] } {
    return { first: this.#first as ChatAnswer, usage: this.#usage as TokenUsage, settlements: this.#settlements };
  }

  async #firstToken(messages: ChatMessage[]): Promise<FirstToken> {
    const request: ChatRequest = {
      ...this.#base,
      ...{ messages, topLogprobs: TOP_LOGPROBS, reasoningEffort: this.#reasoningEffort },
    };
    const { inference, caller } = this.#caller;
    const isFirst = this.#first === undefined;
    const answer = await inference.chat(
      caller,
      { request, hidesTokens: true, moderationInput: () => toModerationInput(request) },
      { moderation: undefined, onDisconnect: this.#onDisconnect(isFirst), isWithinRequest: !isFirst },
    );
    this.#first ??= answer;
    this.#settlements.push(answer.settlement);
    const first: FirstToken = { text: "", logprob: undefined, isRefusal: false };
    for await (const event of answer.events) this.#read(event, first);
    return first;
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

  /** One record has all questions, so those of later chats would repeat the input. */
  #onDisconnect(isFirst: boolean): OnDisconnect {
    const { onDisconnect } = this.#caller;
    return (leave, settlement, guardrails, recording) => {
      if (recording !== undefined && !isFirst) return;
      if (recording !== undefined) this.recording = recording;
      onDisconnect(leave, settlement, guardrails, recording);
    };
  }
}

function withoutLogprobs(hasReasoned: boolean) {
  const message = hasReasoned
    ? "This model reasons before it answers, so its first token decides nothing: use a model that does not, or whose reasoning can be turned off."
    : "This model does not report log probabilities, from which decisions are read.";
  return unsupportedValue(message, "model");
}
