import { GpuMemoryError, ModelError, RequestError } from "@parlance-inference/llama-batching/errors";
import { invalidRequest, unavailable } from "../../kernel/faults.ts";

/** Maps the errors of llama-batching to Faults. */
export function toFault(error: unknown): Error {
  if (error instanceof RequestError) return invalidRequest(error.message, error.param, error.code);
  if (error instanceof ModelError) {
    const code = error instanceof GpuMemoryError ? "insufficient_memory" : "engine_failed";
    return unavailable(error.message, code, error.retryAfterSeconds, error.cause);
  }
  return error instanceof Error ? error : new Error(String(error));
}
