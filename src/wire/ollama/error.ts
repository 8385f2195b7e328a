/** Errors in Ollama's format. */

import { type ErrorAnswer, toErrorAnswer, toErrorBody } from "../openai/error.ts";

export interface OllamaErrorBody {
  error: string;
}

export function toOllamaErrorBody(failure: unknown, requestId: string): OllamaErrorBody {
  return { error: toErrorBody(failure, requestId).error.message };
}

export function toOllamaErrorAnswer(failure: unknown, requestId: string): ErrorAnswer<OllamaErrorBody> {
  return { ...toErrorAnswer(failure, requestId), body: toOllamaErrorBody(failure, requestId) };
}
