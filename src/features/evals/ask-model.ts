/** Requests of evals to models, through the routes of the API: with limits, guardrails, usage and history. */

import { setTimeout as pause } from "node:timers/promises";
import type { Caller } from "../../contracts/caller.ts";
import type { InternalAnswer, InternalRequests } from "../../http/internal-requests.ts";
import { backoffDelay } from "../../kernel/async/backoff.ts";
import { isRefusal, refusalWaitMs } from "../../kernel/jobs/refusal.ts";
import { NO_SAMPLE_USAGE, type Sample, type SamplingParameters } from "../../wire/openai/evals/eval-runs.ts";
import { outputTextOf } from "../../wire/openai/evals/messages-of.ts";

const MAX_ATTEMPTS = 6;
const BACKOFF_MS = { initial: 1_000, max: 30_000, jitter: [0.8, 1.2] } as const;

export interface ModelCalls {
  requests: Pick<InternalRequests, "run">;
  /** The caller as it is now, whose policies may change. Rejects once its key has ended. */
  callerOf: () => Promise<Caller>;
  signal: AbortSignal;
  /** Waits after a refusal, and resolves with whether it is no failed attempt; left out: each one is. */
  waitForRoom?: (refusal: InternalAnswer) => Promise<boolean>;
}

interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of two APIs
  body: any;
  /** Null: the model has no price. */
  costNanoDollars: number | null;
  /** Time of the last attempt, with that in the queue. */
  durationMs: number;
}

/** Sends a request, again while the service or the model is busy. Rejects with the signal's reason. */
export async function ask(calls: ModelCalls, path: string, body: object): Promise<Answered> {
  const { requests, callerOf, signal, waitForRoom } = calls;
  const bytes = Buffer.from(JSON.stringify(body));
  let attempt = 1;
  for (;;) {
    const caller = await callerOf();
    const beganAt = performance.now();
    const answer = await requests.run({ caller, path, body: bytes }, signal);
    if (isRefusal(answer) && (await waitForRoom?.(answer))) continue;
    const isTransient = answer.status === 429 || answer.status >= 500;
    if (isTransient && answer.shouldRetry && attempt < MAX_ATTEMPTS) {
      const { retryAfterSeconds } = answer;
      const isDated = retryAfterSeconds !== undefined;
      await pause(isDated ? refusalWaitMs(retryAfterSeconds) : backoffDelay(attempt, BACKOFF_MS), undefined, {
        signal,
      });
      attempt += 1;
      continue;
    }
    const { status, costNanoDollars } = answer;
    return { status, body: parse(answer.body), costNanoDollars, durationMs: Math.round(performance.now() - beganAt) };
  }
}

/** Asks a model for a sample. A refusal is part of the sample. */
export async function sampleFrom(
  calls: ModelCalls,
  path: "/v1/chat/completions" | "/v1/responses",
  body: Record<string, unknown>,
  input: Sample["input"],
): Promise<Sample> {
  const { status, body: answer, costNanoDollars, durationMs } = await ask(calls, path, body);
  const model = String(answer?.model ?? body.model ?? "");
  const common = { input, model, costNanoDollars, durationMs, parameters: parametersOf(body) };
  if (status === 200) {
    return { ...common, ...(path === "/v1/responses" ? fromResponse(answer) : fromChat(answer)), error: undefined };
  }
  const { code, message } = answer?.error ?? {};
  const error = { code: String(code ?? status), message: String(message ?? `The service answered ${status}.`) };
  return { ...common, outputText: "", finishReason: "error", usage: NO_SAMPLE_USAGE, error };
}

/** Reads what both APIs name in their own way. */
function parametersOf(body: Record<string, unknown>): SamplingParameters {
  const limit = body.max_completion_tokens ?? body.max_output_tokens ?? body.max_tokens;
  return {
    ...(typeof body.temperature === "number" && { temperature: body.temperature }),
    ...(typeof body.top_p === "number" && { topP: body.top_p }),
    ...(typeof limit === "number" && { maxCompletionTokens: limit }),
    ...(typeof body.seed === "number" && { seed: body.seed }),
  };
}

type AnswerFields = Pick<Sample, "outputText" | "finishReason" | "usage">;

function fromChat(answer: Answered["body"]): AnswerFields {
  const [choice] = answer.choices;
  return {
    outputText: choice.message.content ?? "",
    finishReason: choice.finish_reason,
    usage: {
      promptTokens: answer.usage?.prompt_tokens ?? 0,
      completionTokens: answer.usage?.completion_tokens ?? 0,
      cachedTokens: answer.usage?.prompt_tokens_details?.cached_tokens ?? 0,
    },
  };
}

function fromResponse(answer: Answered["body"]): AnswerFields {
  return {
    outputText: outputTextOf(answer.output),
    finishReason: answer.incomplete_details?.reason ?? "stop",
    usage: {
      promptTokens: answer.usage?.input_tokens ?? 0,
      completionTokens: answer.usage?.output_tokens ?? 0,
      cachedTokens: answer.usage?.input_tokens_details?.cached_tokens ?? 0,
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
