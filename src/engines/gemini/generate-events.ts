/** Reads the stream of Gemini's `streamGenerateContent` as typed events. */

import type { ChatRequest, FinishReason, TokenLogprob } from "../../contracts/chat-model.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { parseGeminiUsage } from "../../wire/usage/gemini-usage.ts";
import { type Fields, fieldsOf, listOf, NativeEvents, textOf } from "../native-upstream/native-events.ts";
import { withProvider } from "../native-upstream/signatures.ts";
import { parseUpstreamError, UpstreamError } from "../openai-compatible/upstream-error.ts";
import { GEMINI } from "./generate-request.ts";

/** Reasons for which the provider withholds an answer. */
const FILTERED: ReadonlySet<string> = new Set([
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION",
]);
/** Reasons with which the answer is of no use. */
const BROKEN: ReadonlySet<string> = new Set(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"]);

export class GenerateEvents extends NativeEvents {
  readonly #choices: number;
  #usage: unknown;
  #isBlocked = false;

  constructor(request: ChatRequest) {
    super(request);
    this.#choices = request.choices;
  }

  get isComplete(): boolean {
    return this.#isBlocked || this.answer.endedChoices >= this.#choices;
  }

  protected reportedUsage(): TokenUsage | undefined {
    return parseGeminiUsage(this.#usage);
  }

  protected readEvent(event: Fields): void {
    const error = parseUpstreamError(event);
    if (error !== undefined) throw error;
    if (event.usageMetadata !== undefined) this.#usage = event.usageMetadata;
    for (const candidate of listOf(event.candidates)) this.#addCandidate(candidate);
    const { blockReason, blockReasonMessage } = fieldsOf(event.promptFeedback);
    if (typeof blockReason !== "string") return;
    this.#isBlocked = true;
    this.answer.text(textOf(blockReasonMessage), 0, true);
    for (let choice = 0; choice < this.#choices; choice += 1) this.answer.end("content_filter", choice);
  }

  #addCandidate({ content, finishReason, finishMessage, index, logprobsResult }: Fields): void {
    const choice = typeof index === "number" ? index : 0;
    const logprobs = toLogprobs(fieldsOf(logprobsResult));
    for (const part of listOf(fieldsOf(content).parts)) this.#addPart(part, choice, logprobs.splice(0));
    if (typeof finishReason !== "string" || finishReason === "FINISH_REASON_UNSPECIFIED") return;
    if (BROKEN.has(finishReason)) throw new UpstreamError("ended its answer with a call that is not valid");
    if (FILTERED.has(finishReason)) this.answer.text(textOf(finishMessage), choice, true);
    this.answer.end(this.#toReason(finishReason, choice), choice);
  }

  #addPart(part: Fields, choice: number, logprobs: readonly TokenLogprob[]): void {
    const { text, thought, thoughtSignature, functionCall } = part;
    const signature = textOf(thoughtSignature) === "" ? undefined : withProvider(textOf(thoughtSignature), GEMINI);
    if (functionCall !== undefined) {
      const { id, name, args } = fieldsOf(functionCall);
      const call = this.answer.call({ id, name: textOf(name), signature }, choice);
      if (call !== undefined) this.answer.arguments(call, JSON.stringify(args ?? {}), choice);
      return;
    }
    if (thought === true) this.answer.reasoning(textOf(text), choice);
    else this.answer.text(textOf(text), choice, false, logprobs);
    if (signature !== undefined) this.answer.sign(signature, choice);
  }

  #toReason(reason: string, choice: number): FinishReason {
    if (FILTERED.has(reason)) return "content_filter";
    if (reason === "MAX_TOKENS") return "length";
    return this.answer.hasCalls(choice) ? "tool_calls" : "stop";
  }
}

function toLogprobs({ chosenCandidates, topCandidates }: Fields): TokenLogprob[] {
  const tops = listOf(topCandidates);
  return listOf(chosenCandidates).map((chosen, index) => ({
    ...toLogprob(chosen),
    top: listOf(tops[index]?.candidates).map(toLogprob),
  }));
}

function toLogprob({ token, logProbability }: Fields): Omit<TokenLogprob, "top"> {
  return { token: textOf(token), logprob: Number(logProbability ?? 0), bytes: [...Buffer.from(textOf(token))] };
}
