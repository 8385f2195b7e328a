import type { Caller } from "../../contracts/caller.ts";
import type { EmbeddingResult } from "../../contracts/embedding-model.ts";
import type { Inference } from "../../inference/inference.ts";
import type { OnDisconnect } from "../../inference/on-disconnect.ts";
import { unavailable } from "../../kernel/faults.ts";

const RETRY_SECONDS = 10;

/** Embeds texts as a request of the caller, which counts and is billed. Throws a Fault. */
export async function embedTexts(
  inference: Pick<Inference, "embed">,
  caller: Caller,
  { model, texts }: { model: string; texts: readonly string[] },
  onDisconnect: OnDisconnect,
): Promise<EmbeddingResult> {
  const question = {
    model,
    inputs: texts,
    dimensions: undefined,
    longInput: "average" as const,
    tokenIds: undefined,
    encoding: "float" as const,
    user: undefined,
  };
  const answer = await inference.embed(caller, question, onDisconnect);
  const [result] = await Array.fromAsync(answer.events);
  if (result === undefined) throw new Error(`${answer.deployment} returned no embeddings`);
  if (answer.model !== model) {
    // Vectors of different models cannot be compared.
    const message = `The model '${model}' of this vector store does not answer now. Retry in ${RETRY_SECONDS} s.`;
    throw unavailable(message, "engine_failed", RETRY_SECONDS);
  }
  return result;
}
