/** Bodies and answers of Gemini's embedContent and batchEmbedContents. */

import { z } from "zod";
import type { EmbeddingResult } from "../../contracts/embedding-model.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { parsedListOf } from "../../kernel/list-of.ts";
import type { ParsedEmbedding } from "../openai/embeddings.ts";
import { optional } from "../openai/optional.ts";
import { checkUnknownFields, type UnknownFieldsPolicy } from "../openai/unknown-fields.ts";
import { parse } from "../openai/validate.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { camelFields } from "./camel-fields.ts";
import { Content, checkModel } from "./generate-body.ts";

/** OpenAI's limit, which bounds the memory of an answer. */
const MAX_REQUESTS = 2048;
const EMBED_FIELDS = ["model", "content", "outputDimensionality", "autoTruncate"];

export const EmbedContentBody = named(
  "EmbedContentBody",
  lazy.looseObject(() => ({
    model: optional(z.string()),
    content: Content,
    outputDimensionality: optional(z.int().min(1).max(65_536)),
    /** Whether a text beyond the model's window is read: it is averaged rather than cut. */
    autoTruncate: optional(z.boolean()),
  })),
);

export const BatchEmbedBody = named(
  "BatchEmbedContentsBody",
  lazy.looseObject(() => ({ requests: parsedListOf(EmbedContentBody).min(1).max(MAX_REQUESTS) })),
);

const embedding = z.object({ values: z.array(z.number()) });
const usageMetadata = z.object({ promptTokenCount: z.int().min(0) });
export const EmbedContentAnswer = named(
  "EmbedContentAnswer",
  lazy.object(() => ({ embedding, usageMetadata })),
);
export const BatchEmbedAnswer = named(
  "BatchEmbedContentsAnswer",
  lazy.object(() => ({ embeddings: z.array(embedding), usageMetadata })),
);

interface ReadEmbedding extends ParsedEmbedding {
  /** Paths of fields without effect, such as `taskType`: vectors are those of the text as it is. */
  ignored: string[];
}

type EmbedContent = z.output<typeof EmbedContentBody>;

/** Throws a Fault. */
export function readEmbedContent(value: unknown, model: string, policy: UnknownFieldsPolicy): ReadEmbedding {
  const request = parse(EmbedContentBody, camelFields(value));
  return toEmbedding([[request, ""]], model, policy);
}

/** Throws a Fault. */
export function readBatchEmbed(value: unknown, model: string, policy: UnknownFieldsPolicy): ReadEmbedding {
  const { requests } = parse(BatchEmbedBody, camelFields(value));
  return toEmbedding(
    requests.map((each, index) => [each, `requests[${index}].`]),
    model,
    policy,
  );
}

function toEmbedding(
  requests: readonly (readonly [request: EmbedContent, path: string])[],
  model: string,
  policy: UnknownFieldsPolicy,
): ReadEmbedding {
  const { outputDimensionality: dimensions, autoTruncate } = requests[0]?.[0] ?? {};
  const ignored = new Set<string>();
  const inputs = requests.map(([request, path]) => {
    checkModel(request.model, model, `${path}model`);
    for (const name of ["outputDimensionality", "autoTruncate"] as const) {
      if (request[name] === requests[0]?.[0][name]) continue;
      const param = `${path}${name}`;
      throw invalidRequest(`'${param}' differs from that of the first request.`, param, "invalid_value");
    }
    for (const name of checkUnknownFields(request, { known: EMBED_FIELDS, unsupported: {}, policy })) {
      ignored.add(`${path.replace(/\d+/, "")}${name}`);
    }
    return textOf(request, path);
  });
  const longInput = autoTruncate === undefined ? undefined : autoTruncate ? "average" : "refuse";
  const common = { encoding: "float", tokenIds: undefined, user: undefined } as const;
  return { ...common, model, inputs, dimensions, longInput, ignored: [...ignored] };
}

function textOf({ content: { parts } }: EmbedContent, path: string): string {
  const texts = (parts ?? []).map(({ text }, index) => {
    if (typeof text === "string") return text;
    const param = `${path}content.parts[${index}]`;
    throw invalidRequest(`'${param}' has no text: models here embed nothing else.`, param, "invalid_value");
  });
  return texts.join("\n");
}

type Vectors = Pick<EmbeddingResult, "values" | "dimensions" | "promptTokens">;

export function toEmbedAnswer({ values, promptTokens }: Vectors): AnswerOf<typeof EmbedContentAnswer> {
  return { embedding: { values: Array.from(values) }, usageMetadata: { promptTokenCount: promptTokens } };
}

export function toBatchEmbedAnswer({ values, dimensions, promptTokens }: Vectors): AnswerOf<typeof BatchEmbedAnswer> {
  const embeddings = Array.from({ length: values.length / dimensions }, (_, index) => ({
    values: Array.from(values.subarray(index * dimensions, (index + 1) * dimensions)),
  }));
  return { embeddings, usageMetadata: { promptTokenCount: promptTokens } };
}
