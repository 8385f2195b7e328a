/** POST /v1/embeddings: validates the body and renders the vectors. */

import { z } from "zod";
import type { EmbeddingInput, EmbeddingResult } from "../../engines/engine.ts";
import { invalidRequest } from "../../faults.ts";
import { optional } from "./optional.ts";
import { checkUnknownFields, type UnknownFieldsPolicy, type UnsupportedField } from "./unknown-fields.ts";
import { parse } from "./validate.ts";

/** OpenAI's limit. */
const MAX_INPUTS = 2048;
const MAX_TOKEN_ID = 2 ** 31 - 1;
/** Vectors per chunk of the response. */
const VECTORS_PER_CHUNK = 32;

const EmbeddingBody = z.object({
  model: z.string().min(1),
  /** Checked by `toInputs`: a schema would report each of a million IDs. */
  input: z.unknown(),
  dimensions: optional(z.int().min(1).max(65_536)),
  encoding_format: optional(z.enum(["float", "base64"])),
  user: optional(z.string()),
});

/** Fields of other servers that would change the vectors. */
const UNSUPPORTED: Readonly<Record<string, UnsupportedField>> = {
  truncate: { isDefault: (value) => value === false || value === "NONE", instead: "texts are never cut" },
  truncate_prompt_tokens: { instead: "texts are never cut" },
  input_type: { instead: "write the prefix that the model expects into the text" },
  prompt_name: { instead: "write the prompt into the text" },
  output_dimension: { instead: "use 'dimensions'" },
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
  user: string | undefined;
}

/** Validates the body. Throws a Fault that names the invalid field. */
export function readEmbedding(body: unknown): ParsedEmbedding {
  const { input, encoding_format: encoding = "float", ...rest } = parse(EmbeddingBody, body);
  return { ...rest, inputs: toInputs(input), encoding };
}

function toInputs(input: unknown): readonly EmbeddingInput[] {
  if (input === undefined || input === null) {
    throw invalidRequest("Missing required parameter: 'input'.", "input", "missing_required_parameter");
  }
  if (typeof input === "string") return [input];
  if (!Array.isArray(input)) throw wrongType("it must be a string or an array", "input");
  if (input.length === 0) throw emptyArray("input");
  if (typeof input[0] === "number") return [toIds(input, "input")];
  if (input.length > MAX_INPUTS) {
    const message = `Invalid value for 'input': it may have at most ${MAX_INPUTS} entries, not ${input.length}. Send them in parts.`;
    throw invalidRequest(message, "input", "array_above_max_length");
  }
  const areTexts = typeof input[0] === "string";
  return input.map((each: unknown, index) => {
    const path = `input[${index}]`;
    if (areTexts && typeof each === "string") return each;
    if (!areTexts && Array.isArray(each)) return toIds(each, path);
    throw wrongType("entries must be strings only or arrays of token IDs only", path);
  });
}

function toIds(values: readonly unknown[], path: string): readonly number[] {
  if (values.length === 0) throw emptyArray(path);
  const wrong = values.findIndex(
    (id) => !(Number.isInteger(id) && (id as number) >= 0 && (id as number) <= MAX_TOKEN_ID),
  );
  if (wrong === -1) return values as number[];
  throw wrongType(`it must be a token ID from 0 to ${MAX_TOKEN_ID}`, `${path}[${wrong}]`);
}

/** Fault of an invalid `input`. OpenAI's clients know it as one field, so only the message names the path within it. */
function wrongType(reason: string, path: string): Error {
  return invalidRequest(`Wrong type for '${path}': ${reason}.`, "input", "invalid_type");
}

function emptyArray(path: string): Error {
  return invalidRequest(`Invalid value for '${path}': it must have at least one entry.`, "input", "empty_array");
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
function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}
