/** POST /api/embed and the older /api/embeddings. */

import { z } from "zod";
import type { EmbeddingResult } from "../../contracts/embedding-model.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import type { ParsedEmbedding } from "../openai/embeddings.ts";
import { optional } from "../openai/optional.ts";
import { parse } from "../openai/validate.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { toNanoseconds } from "./chat-answer.ts";
import type { OllamaEmbed, OllamaEmbedding } from "./ollama-answers.ts";

export type Vectors = Pick<EmbeddingResult, "values" | "dimensions" | "promptTokens">;

/** OpenAI's limit, which bounds the memory of an answer. */
const MAX_INPUTS = 2048;

export const EmbedBody = named(
  "OllamaEmbedBody",
  lazy.looseObject(() => ({
    model: z.string().min(1),
    input: z.union([z.string(), listOf(z.string()).min(1).max(MAX_INPUTS)]),
    dimensions: optional(z.int().min(1).max(65_536)),
    truncate: optional(z.boolean()),
  })),
);

export const EmbeddingsBody = named(
  "OllamaEmbeddingsBody",
  lazy.looseObject(() => ({ model: z.string().min(1), prompt: z.string() })),
);

const COMMON = { encoding: "float", tokenIds: undefined, user: undefined } as const;

/**
 * Reads `truncate`, which is true by default, as leave to read a text beyond the model's window: it is averaged rather
 * than cut. Throws a Fault.
 */
export function readOllamaEmbed(value: unknown): ParsedEmbedding {
  const { model, input, dimensions, truncate = true } = parse(EmbedBody, value);
  return {
    ...COMMON,
    model,
    inputs: typeof input === "string" ? [input] : input,
    dimensions,
    longInput: truncate ? "average" : "refuse",
  };
}

/** Throws a Fault. */
export function readOllamaEmbeddings(value: unknown): ParsedEmbedding {
  const { model, prompt } = parse(EmbeddingsBody, value);
  return { ...COMMON, model, inputs: [prompt], dimensions: undefined, longInput: "average" };
}

export function toEmbedAnswer(
  model: string,
  { values, dimensions, promptTokens }: Vectors,
  beganAt: number,
): AnswerOf<typeof OllamaEmbed> {
  const embeddings = Array.from({ length: values.length / dimensions }, (_, index) =>
    Array.from(values.subarray(index * dimensions, (index + 1) * dimensions)),
  );
  const total_duration = toNanoseconds(performance.now() - beganAt);
  return { model, embeddings, total_duration, load_duration: 0, prompt_eval_count: promptTokens };
}

export function toEmbeddingsAnswer({ values }: Vectors): AnswerOf<typeof OllamaEmbedding> {
  return { embedding: Array.from(values) };
}
