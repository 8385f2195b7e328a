/** Bodies and answers of Cohere's POST /v2/embed. */

import { z } from "zod";
import type { EmbeddingResult } from "../../contracts/embedding-model.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { type ParsedEmbedding, toBase64 } from "../openai/embeddings.ts";
import { openVariants } from "../openai/open-variants.ts";
import { optional } from "../openai/optional.ts";
import { checkUnknownFields, type UnknownFieldsPolicy, type UnsupportedField } from "../openai/unknown-fields.ts";
import { parse } from "../openai/validate.ts";
import { named } from "../openapi/named.ts";

/** OpenAI's limit, which bounds the memory of an answer. */
const MAX_INPUTS = 2048;

const Text = z.string().min(1);
const EncodingType = z.enum(["float", "base64"], {
  error: "it must be float or base64: vectors here are not quantized",
});

export const CohereEmbedBody = named(
  "CohereEmbedBody",
  lazy.looseObject(() => ({
    model: z.string().min(1),
    texts: optional(listOf(Text).min(1).max(MAX_INPUTS)),
    inputs: optional(
      listOf(z.looseObject({ content: listOf(openVariants({ text: z.looseObject({ text: Text }) })).min(1) }))
        .min(1)
        .max(MAX_INPUTS),
    ),
    input_type: optional(z.string()).describe("Without effect: vectors are those of the text as it is."),
    output_dimension: optional(z.int().min(1).max(65_536)),
    embedding_types: optional(listOf(EncodingType).min(1).max(2)),
    truncate: optional(z.enum(["NONE", "START", "END"])).describe(
      "NONE refuses a text beyond the model's window; otherwise all of it is read, and its parts are averaged.",
    ),
  })),
);

const count = z.int().min(0);

export const CohereEmbeddings = named(
  "CohereEmbeddings",
  lazy.object(() => ({
    id: z.string(),
    response_type: z.literal("embeddings_by_type"),
    embeddings: z.object({
      float: z.array(z.array(z.number())).optional(),
      base64: z.array(z.string()).optional().describe("Little-endian float32."),
    }),
    texts: z.array(z.string()),
    meta: z.object({
      api_version: z.object({ version: z.string() }),
      billed_units: z.object({ input_tokens: count }),
    }),
  })),
);

const UNSUPPORTED: Readonly<Record<string, UnsupportedField>> = {
  images: {
    isDefault: (value) => Array.isArray(value) && value.length === 0,
    instead: "models here embed texts",
  },
  max_tokens: { instead: "texts are read to their end" },
};

interface ReadEmbedding extends ParsedEmbedding {
  texts: readonly string[];
  types: readonly ("float" | "base64")[];
  /** Names of fields without effect. */
  ignored: string[];
}

/** Throws a Fault that names the invalid field. */
export function readCohereEmbed(value: unknown, policy: UnknownFieldsPolicy): ReadEmbedding {
  const body = parse(CohereEmbedBody, value);
  const { model, inputs, input_type: inputType, truncate, embedding_types: types = ["float"] } = body;
  const unknown = checkUnknownFields(body, {
    known: Object.keys(CohereEmbedBody.shape),
    unsupported: UNSUPPORTED,
    policy,
  });
  const texts = body.texts ?? inputs?.map(({ content }, index) => content.map(textIn(index)).join("\n"));
  if (texts === undefined) {
    throw invalidRequest("Missing required parameter: 'texts'.", "texts", "missing_required_parameter");
  }
  if (body.texts !== undefined && inputs !== undefined) {
    throw invalidRequest("Send either 'texts' or 'inputs'.", "inputs", "invalid_value");
  }
  const longInput = truncate === "NONE" ? "refuse" : "average";
  const ignored = [...unknown, ...(inputType === undefined ? [] : ["input_type"])];
  const common = { encoding: "float", tokenIds: undefined, user: undefined } as const;
  return { ...common, model, inputs: texts, dimensions: body.output_dimension, longInput, texts, types, ignored };
}

function textIn(input: number) {
  return ({ type, text }: { type: string; text?: unknown }, index: number): string => {
    if (typeof text === "string") return text;
    const param = `inputs[${input}].content[${index}].type`;
    throw invalidRequest(`'${param}' is '${type.slice(0, 50)}': models here embed texts.`, param, "invalid_value");
  };
}

export function toCohereEmbeddings(
  id: string,
  { texts, types }: Pick<ReadEmbedding, "texts" | "types">,
  { values, dimensions, promptTokens }: EmbeddingResult,
) {
  const vectors = texts.map((_, index) => values.subarray(index * dimensions, (index + 1) * dimensions));
  return {
    id,
    response_type: "embeddings_by_type" as const,
    embeddings: {
      ...(types.includes("float") && { float: vectors.map((vector) => Array.from(vector)) }),
      ...(types.includes("base64") && { base64: vectors.map(toBase64) }),
    },
    texts: [...texts],
    meta: { api_version: { version: "2" }, billed_units: { input_tokens: promptTokens } },
  };
}
