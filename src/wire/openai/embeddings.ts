/** POST /v1/embeddings: validates the body and renders the vectors. */

import { z } from "zod";
import type { EmbeddingInput, EmbeddingRequest, EmbeddingResult } from "../../contracts/embedding-model.ts";
import { lazy } from "../../kernel/lazy.ts";
import { describedBy } from "../openapi/described-by.ts";
import { named } from "../openapi/named.ts";
import { optional } from "./optional.ts";
import { readTextInputs, TextInputs } from "./text-inputs.ts";
import { checkUnknownFields, type UnknownFieldsPolicy, type UnsupportedField } from "./unknown-fields.ts";
import { parse } from "./validate.ts";

/** OpenAI's limit. */
const MAX_INPUTS = 2048;
/** Vectors per chunk of the response: as many of 1,536 numbers take 3 ms to write. */
const VECTORS_PER_CHUNK = 8;

export const EmbeddingBody = named(
  "EmbeddingBody",
  lazy.object(() => ({
    model: z.string().min(1),
    input: describedBy(z.unknown(), TextInputs),
    dimensions: optional(z.int().min(1).max(65_536)),
    encoding_format: optional(z.enum(["float", "base64"])),
    /** Vocabulary of token IDs in `input`. */
    token_ids: optional(z.enum(["cl100k_base", "model"])),
    user: optional(z.string()),
  })),
);

const count = z.int().min(0);

export const EmbeddingList = named(
  "EmbeddingList",
  lazy.object(() => ({
    object: z.literal("list"),
    data: z.array(
      z.object({
        object: z.literal("embedding"),
        index: count,
        embedding: z.union([z.array(z.number()), z.string()]).describe("Numbers, or Base64 of little-endian float32."),
      }),
    ),
    model: z.string(),
    usage: z.object({ prompt_tokens: count, total_tokens: count }),
  })),
);

/** Fields of other servers that would change the vectors. */
const UNSUPPORTED: Readonly<Record<string, UnsupportedField>> = {
  truncate: { isDefault: (value) => value === false || value === "NONE", instead: "texts are never cut" },
  truncate_prompt_tokens: { instead: "texts are never cut" },
  input_type: { instead: "write the prefix that the model expects into the text" },
  prompt_name: { instead: "write the prompt into the text" },
  output_dimension: { instead: "use 'dimensions'" },
  output_dtype: { isDefault: (value) => value === "float", instead: "use 'encoding_format': vectors are of floats" },
  embedding_type: { isDefault: (value) => value === "float", instead: "use 'encoding_format': vectors are of floats" },
  embedding_types: {
    isDefault: (value) => JSON.stringify(value) === '["float"]',
    instead: "use 'encoding_format': vectors are of floats",
  },
  task: { instead: "write the prefix that the model expects into the text" },
  late_chunking: { isDefault: (value) => value === false, instead: "each text is embedded by itself" },
  return_multivector: { isDefault: (value) => value === false, instead: "each text has one vector" },
  normalized: { isDefault: (value) => value === true, instead: "vectors are as the model gives them" },
};

/** Returns the names of ignored fields. Throws a Fault for a field that must not be ignored. */
export function ignoredEmbeddingFields(body: unknown, policy: UnknownFieldsPolicy): string[] {
  return checkUnknownFields(body, { known: Object.keys(EmbeddingBody.shape), unsupported: UNSUPPORTED, policy });
}

export interface ParsedEmbedding {
  model: string;
  inputs: readonly EmbeddingInput[];
  dimensions: number | undefined;
  encoding: "float" | "base64";
  tokenIds: EmbeddingRequest["tokenIds"];
  longInput?: EmbeddingRequest["longInput"];
  user: string | undefined;
}

/** Replaces Jina's inputs, `{ text }`, by their text. */
function toTexts(input: unknown): unknown {
  if (!Array.isArray(input) || !input.some(isTextObject)) return input;
  return input.map((each) => (isTextObject(each) ? each.text : each));
}

function isTextObject(value: unknown): value is { text: string } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const fields = Object.keys(value);
  return fields.length === 1 && typeof (value as { text?: unknown }).text === "string";
}

/** Validates the body. Throws a Fault that names the invalid field. */
export function readEmbedding(body: unknown): ParsedEmbedding {
  const { input, encoding_format: encoding = "float", token_ids: tokenIds, ...rest } = parse(EmbeddingBody, body);
  return { ...rest, tokenIds, inputs: readTextInputs(toTexts(input), "input", MAX_INPUTS), encoding };
}

/**
 * Yields the answer's JSON in parts, because the text of a large request's vectors would take hundreds of megabytes.
 */
export async function* toEmbeddingList(
  model: string,
  { values, dimensions, promptTokens }: EmbeddingResult,
  encoding: "float" | "base64",
): AsyncGenerator<Uint8Array> {
  const count = values.length / dimensions;
  let text = '{"object":"list","data":[';
  for (let index = 0; index < count; index += 1) {
    const vector = values.subarray(index * dimensions, (index + 1) * dimensions);
    const shown = encoding === "base64" ? `"${toBase64(vector)}"` : `[${vector.join(",")}]`;
    text += `${index === 0 ? "" : ","}{"object":"embedding","index":${index},"embedding":${shown}}`;
    if ((index + 1) % VECTORS_PER_CHUNK !== 0) continue;
    yield Buffer.from(text);
    text = "";
  }
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  yield Buffer.from(`${text}],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`);
}

/** Encodes 32-bit little-endian floats, the native byte order of every platform that Node supports. */
export function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}
