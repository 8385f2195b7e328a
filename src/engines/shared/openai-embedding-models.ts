import type { EmbeddingInput } from "../../contracts/engine.ts";

const OPENAI_EMBEDDING_MODELS = ["text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002"];

/** Whether clients that send token IDs under this name send those of cl100k_base. */
export function isOpenAiEmbeddingModel(id: string): boolean {
  return OPENAI_EMBEDDING_MODELS.includes(id);
}

/** Turns token IDs of OpenAI's models into text. Throws a Fault for an ID that cl100k_base does not have. */
export async function decodeOpenAiIds(inputs: readonly EmbeddingInput[]): Promise<readonly EmbeddingInput[]> {
  if (inputs.every((input) => typeof input === "string")) return inputs;
  // On demand, since the ranks take memory that texts do not need.
  const { decodeCl100k } = await import("./cl100k.ts");
  return inputs.map((input, index) => (typeof input === "string" ? input : decodeCl100k(input, index)));
}
