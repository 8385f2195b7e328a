/** Requests of evals to models, through the routes of the API: with limits, guardrails, usage and history. */

import { setTimeout as pause } from "node:timers/promises";
import { backoffDelay } from "../../kernel/async/backoff.ts";
import type { Sample } from "../../wire/openai/evals/evals.ts";
import type { Caller } from "../accounts/caller.ts";
import type { LineRequests } from "../batches/line-requests.ts";

const MAX_ATTEMPTS = 6;
const BACKOFF_SECONDS = { initial: 1, max: 30, jitter: [0.8, 1.2] } as const;

export interface ModelCalls {
  requests: Pick<LineRequests, "run">;
  caller: Caller;
  signal: AbortSignal;
}

interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of two APIs
  body: any;
}

/** Sends a request, again while the service or the model is busy. Rejects with the signal's reason. */
export async function ask({ requests, caller, signal }: ModelCalls, path: string, body: object): Promise<Answered> {
  const bytes = Buffer.from(JSON.stringify(body));
  for (let attempt = 1; ; attempt += 1) {
    const answer = await requests.run({ caller, path, body: bytes }, signal);
    const isTransient = answer.status === 429 || answer.status >= 500;
    if (isTransient && answer.shouldRetry && attempt < MAX_ATTEMPTS) {
      const seconds = answer.retryAfterSeconds ?? backoffDelay(attempt, { ...BACKOFF_SECONDS, jitter: [0.8, 1.2] });
      await pause(seconds * 1000, undefined, { signal });
      continue;
    }
    return { status: answer.status, body: parse(answer.body) };
  }
}

/** Asks a model for a sample. A refusal is part of the sample. */
export async function sampleFrom(
  calls: ModelCalls,
  path: "/v1/chat/completions" | "/v1/responses",
  body: Record<string, unknown>,
  input: Sample["input"],
): Promise<Sample> {
  const { status, body: answer } = await ask(calls, path, body);
  const model = String(answer?.model ?? body.model ?? "");
  if (status !== 200) {
    const { code, message } = answer?.error ?? {};
    const error = { code: String(code ?? status), message: String(message ?? `The service answered ${status}.`) };
    const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
    return { input, outputText: "", finishReason: "error", model, usage, error };
  }
  return path === "/v1/responses" ? fromResponse(answer, model, input) : fromChat(answer, model, input);
}

function fromChat(answer: Answered["body"], model: string, input: Sample["input"]): Sample {
  const [choice] = answer.choices;
  return {
    input,
    outputText: choice.message.content ?? "",
    finishReason: choice.finish_reason,
    model,
    usage: {
      promptTokens: answer.usage?.prompt_tokens ?? 0,
      completionTokens: answer.usage?.completion_tokens ?? 0,
      cachedTokens: answer.usage?.prompt_tokens_details?.cached_tokens ?? 0,
    },
    error: undefined,
  };
}

function fromResponse(answer: Answered["body"], model: string, input: Sample["input"]): Sample {
  const messages = answer.output.filter(({ type }: { type: string }) => type === "message");
  const parts = messages.flatMap(({ content }: { content: { text?: string }[] }) => content);
  return {
    input,
    outputText: parts.map(({ text = "" }: { text?: string }) => text).join(""),
    finishReason: answer.incomplete_details?.reason ?? "stop",
    model,
    usage: {
      promptTokens: answer.usage?.input_tokens ?? 0,
      completionTokens: answer.usage?.output_tokens ?? 0,
      cachedTokens: answer.usage?.input_tokens_details?.cached_tokens ?? 0,
    },
    error: undefined,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
