import type OpenAI from "openai";
import { queryClient } from "../../api/query-client.ts";
import { sessionQuery } from "../../api/session.ts";
import { t } from "../../i18n/translate.ts";
import type { ChatBody } from "./chat-body.ts";
import type { Answer, Measures, ToolCall } from "./conversation.ts";

/** Rendering each token costs more than generating it on a fast model. */
const UPDATE_MS = 40;

interface AnswerReading {
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
    const { openai } = await import("../../api/openai.ts");
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
    for await (const chunk of stream) {
      if (chunk.usage) {
        answer.measures = {
          ...sinceStart(),
          promptTokens: chunk.usage.prompt_tokens,
          cachedTokens: chunk.usage.prompt_tokens_details?.cached_tokens ?? 0,
          completionTokens: chunk.usage.completion_tokens,
        };
      }
      const [choice] = chunk.choices;
      if (choice === undefined) continue;
      const delta = choice.delta as typeof choice.delta & { reasoning_content?: string };
      if (delta.content || delta.reasoning_content || delta.tool_calls) {
        onPart();
      }
      if (choice.index > 0) {
        answer.alternatives[choice.index - 1] = (answer.alternatives[choice.index - 1] ?? "") + (delta.content ?? "");
        show();
        continue;
      }
      answer.text += delta.content ?? "";
      answer.reasoning += delta.reasoning_content ?? "";
      for (const part of delta.tool_calls ?? []) {
        const call: ToolCall = answer.toolCalls[part.index] ?? { id: "", name: "", arguments: "" };
        call.id += part.id ?? "";
        call.name += part.function?.name ?? "";
        call.arguments += part.function?.arguments ?? "";
        answer.toolCalls[part.index] = call;
      }
      for (const { token, logprob, top_logprobs: top } of choice.logprobs?.content ?? []) {
        answer.tokens ??= [];
        answer.tokens.push({
          text: token,
          logprob,
          top: top.map((each) => ({ text: each.token, logprob: each.logprob })),
        });
      }
      if (choice.finish_reason) answer.finishReason = choice.finish_reason;
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
