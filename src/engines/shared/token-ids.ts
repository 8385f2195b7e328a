/** Vocabularies of the token IDs in requests for embeddings. */

import { z } from "zod";
import type { EmbeddingInput, EmbeddingRequest } from "../../contracts/embedding-model.ts";

const OPENAI_EMBEDDING_MODELS = ["text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002"];

/** IDs decoded without a pause, which takes 5 ms. */
const IDS_PER_SLICE = 20_000;

/** Whether an ID is that of an embedding model of OpenAI, whose vocabulary is cl100k_base. */
export function isOpenAiEmbeddingModel(id: string): boolean {
  return OPENAI_EMBEDDING_MODELS.includes(id);
}

/** Setting of deployments with the task embedding. */
export const tokenIdsSetting = z
  .enum(["cl100k_base", "model"])
  .default("cl100k_base")
  .describe(
    "For the task embedding: vocabulary of token IDs in `input`, unless the request says another one in `token_ids`. cl100k_base: OpenAI's, which its clients and LangChain send to every model; they are decoded to text. model: the model's own",
  );

export type TokenIds = NonNullable<EmbeddingRequest["tokenIds"]>;

/** Vocabulary of the IDs in this request. */
function tokenIdsOf({ tokenIds }: Pick<EmbeddingRequest, "tokenIds">, configured: TokenIds): TokenIds {
  return tokenIds ?? configured;
}

/**
 * Whether the client counted tokens with another vocabulary than the model's, so that a text may exceed the model's
 * window although the client has split it.
 */
export function countsOtherwise(request: EmbeddingRequest, configured: TokenIds): boolean {
  // Clients of rerankers send documents as they are.
  if (request.usesOpenAiName || request.purpose === "ranking") return true;
  return tokenIdsOf(request, configured) === "cl100k_base" && request.inputs.some((input) => typeof input !== "string");
}

/** Turns token IDs of cl100k_base into text. Throws a Fault for an ID that it does not have. */
export async function decodeTokenIds(
  request: EmbeddingRequest,
  configured: TokenIds,
): Promise<readonly EmbeddingInput[]> {
  const { inputs } = request;
  if (tokenIdsOf(request, configured) === "model" || inputs.every((input) => typeof input === "string")) return inputs;
  // On demand, since the ranks take memory that texts do not need.
  const { decodeCl100k } = await import("./cl100k.ts");
  const texts: EmbeddingInput[] = [];
  let decodedIds = 0;
  for (const [index, input] of inputs.entries()) {
    texts.push(typeof input === "string" ? input : decodeCl100k(input, index));
    decodedIds += input.length;
    if (decodedIds < IDS_PER_SLICE) continue;
    decodedIds = 0;
    await new Promise(setImmediate);
  }
  return texts;
}
