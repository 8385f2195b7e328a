import type OpenAI from "openai";
import { queryClient } from "../../../api/query-client.ts";
import { sessionQuery } from "../../../api/session.ts";
import { t } from "../../../i18n/translate.ts";
import type { ChatBody } from "../chat-body.ts";
import type { Answer, Measures, ToolCall } from "../conversation.ts";

/** Rendering each token costs more than generating it on a fast model. */
const UPDATE_MS = 40;

export interface AnswerReading {
  openai: OpenAI;
  signal: AbortSignal;
  /** What is read so far. */
  answer: Answer;
  /** Counts a part of the stream, most of which are one token. */
  onPart: () => void;
  /** Shows what is read so far. */
  show: () => void;
  sinceStart: () => Pick<Measures, "firstTokenSeconds" | "seconds">;
}

/** Asks for an answer and reads its stream. */
export type AnswerReader = (reading: AnswerReading) => Promise<void>;

/** Streams one answer into `update`; never throws. */
export async function streamAnswer(
  model: string,
  signal: AbortSignal,
  update: (answer: Answer) => void,
  read: AnswerReader,
): Promise<void> {
  const answer: Answer = {
    model,
    text: "",
    alternatives: [],
    reasoning: "",
    toolCalls: [],
    state: "running",
  };
  const beganAt = performance.now();
  let firstAt: number | undefined;
  let lastUpdateAt = 0;
  let chunks = 0;
  const sinceStart = (now: number) => ({
    firstTokenSeconds: firstAt === undefined ? undefined : (firstAt - beganAt) / 1000,
    seconds: (now - beganAt) / 1000,
  });
  const show = (isFinal: boolean) => {
    const now = performance.now();
    if (!isFinal && now - lastUpdateAt < UPDATE_MS) return;
    lastUpdateAt = now;
    const isRunning = answer.state === "running" && firstAt !== undefined;
    update({
      ...answer,
      ...(isRunning && { progress: { ...sinceStart(now), tokens: chunks } }),
      ...(answer.tokens && { tokens: [...answer.tokens] }),
      alternatives: Array.from(answer.alternatives, (text) => text ?? ""),
      toolCalls: answer.toolCalls.map((call) => ({ ...call })),
    });
  };
  show(true);
  try {
    // Loaded by the first question: the client is a third of the page's size.
    const { openai } = await import("../../../api/openai.ts");
    const onPart = () => {
      firstAt ??= performance.now();
      chunks += 1;
    };
    const reading = { openai, signal, answer, onPart, show: () => show(false) };
    await read({ ...reading, sinceStart: () => sinceStart(performance.now()) });
    answer.state = signal.aborted ? "stopped" : "done";
  } catch (failure) {
    answer.state = signal.aborted ? "stopped" : "failed";
    if (!signal.aborted) answer.error = messageOf(failure);
    if ((failure as { status?: number }).status === 401) {
      void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    }
  }
  show(true);
}

/** Reads a streamed chat completion. */
export function completionReader(body: ChatBody): AnswerReader {
  return async ({ openai, signal, answer, onPart, show, sinceStart }) => {
    const { data: stream, request_id: requestId } = await openai.chat.completions
      .create(body, { signal })
      .withResponse();
    if (requestId) answer.requestId = requestId;
    for await (const { usage, choices } of stream) {
      if (usage) answer.measures = { ...sinceStart(), ...toTokenCounts(usage) };
      const [choice] = choices;
      if (choice === undefined) continue;
      if (hasPart(choice.delta)) onPart();
      appendChoice(answer, choice);
      show();
    }
  };
}

/** The service's message without the status that the client prepends. */
function messageOf(failure: unknown): string {
  const { status, message } = failure as { status?: number; message?: string };
  // The browser says no more than "network error" about a connection that ends.
  if (status === undefined && (failure instanceof TypeError || message === "Connection error.")) {
    return t(
      "The connection to Parlance was lost before the answer was complete. Check that it is running, then retry.",
    );
  }
  return (message ?? String(failure)).replace(/^\d{3} /, "");
}

type Choice = OpenAI.ChatCompletionChunk.Choice;
type Delta = Choice["delta"] & { reasoning_content?: string };

function appendDelta(answer: Answer, { content, reasoning_content: reasoning, tool_calls: parts }: Delta): void {
  answer.text += content ?? "";
  answer.reasoning += reasoning ?? "";
  for (const part of parts ?? []) {
    const call: ToolCall = answer.toolCalls[part.index] ?? { id: "", name: "", arguments: "" };
    call.id += part.id ?? "";
    call.name += part.function?.name ?? "";
    call.arguments += part.function?.arguments ?? "";
    answer.toolCalls[part.index] = call;
  }
}

function appendTokens(answer: Answer, tokens: NonNullable<NonNullable<Choice["logprobs"]>["content"]>): void {
  for (const { token, logprob, top_logprobs: top } of tokens) {
    answer.tokens ??= [];
    answer.tokens.push({ text: token, logprob, top: top.map((each) => ({ text: each.token, logprob: each.logprob })) });
  }
}

function toTokenCounts(
  usage: OpenAI.CompletionUsage,
): Pick<Measures, "promptTokens" | "cachedTokens" | "completionTokens"> {
  return {
    promptTokens: usage.prompt_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    completionTokens: usage.completion_tokens,
  };
}

function hasPart({ content, reasoning_content: reasoning, tool_calls: calls }: Delta): boolean {
  return Boolean(content || reasoning || calls);
}

function appendChoice(answer: Answer, { index, delta, logprobs, finish_reason: reason }: Choice): void {
  if (index > 0) {
    answer.alternatives[index - 1] = (answer.alternatives[index - 1] ?? "") + (delta.content ?? "");
    return;
  }
  appendDelta(answer, delta);
  appendTokens(answer, logprobs?.content ?? []);
  if (reason) answer.finishReason = reason;
}
