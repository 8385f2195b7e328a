/** Reads the answer of POST /embeddings. Its vectors may come as numbers or as base64. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { parseUpstreamError, UpstreamError, type UpstreamErrorDetails } from "./upstream-error.ts";

const Answer = lazy.object(() => ({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.union([z.string(), z.custom<number[]>(isNumbers)]) })),
  usage: z
    .object({ prompt_tokens: z.int().min(0) })
    .nullish()
    .catch(undefined),
}));

/** Zod would take seconds for millions of numbers. */
function isNumbers(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "number");
}

const BYTES_PER_VALUE = 4;

export interface ReadEmbeddings {
  /** One vector after the other, in the order of the inputs. */
  values: Float32Array;
  dimensions: number;
  /** Undefined when the upstream does not report them. */
  promptTokens: number | undefined;
}

/** Why an answer cannot be used, as an UpstreamError says it, whose class does not cross threads. */
export interface UnusableAnswer {
  problem: string;
  details: UpstreamErrorDetails;
}

/** Converts the parsed body; also called in a thread, since a large answer takes a second. */
export function convert(answer: unknown, count: number): ReadEmbeddings | UnusableAnswer {
  try {
    return readEmbeddings(answer, count);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const { problem, details } = error;
    return { problem, details };
  }
}

/** Throws an UpstreamError when the answer is not `count` vectors of one length. */
function readEmbeddings(answer: unknown, count: number): ReadEmbeddings {
  const error = parseUpstreamError(answer);
  if (error !== undefined) throw error;
  const checked = Answer.safeParse(answer);
  if (!checked.success) throw new UpstreamError("answered with something other than embeddings");
  const { data, usage } = checked.data;
  const sorted = data.toSorted((a, b) => a.index - b.index);
  if (sorted.length !== count || sorted.some(({ index }, position) => index !== position)) {
    throw new UpstreamError(`gave ${sorted.length} embeddings for ${count} inputs`, { dependsOnRequest: true });
  }
  return { ...join(sorted.map(({ embedding }) => toVector(embedding))), promptTokens: usage?.prompt_tokens };
}

function toVector(embedding: string | readonly number[]): Float32Array {
  if (typeof embedding !== "string") return Float32Array.from(embedding);
  const bytes = Buffer.from(embedding, "base64");
  const vector = new Float32Array(Math.floor(bytes.length / BYTES_PER_VALUE));
  for (const index of vector.keys()) vector[index] = bytes.readFloatLE(index * BYTES_PER_VALUE);
  return vector;
}

function join(vectors: readonly Float32Array[]): { values: Float32Array; dimensions: number } {
  const dimensions = vectors[0]?.length ?? 0;
  if (dimensions === 0 || vectors.some(({ length }) => length !== dimensions)) {
    throw new UpstreamError("gave embeddings of different lengths", { dependsOnRequest: true });
  }
  const values = new Float32Array(vectors.length * dimensions);
  for (const [index, vector] of vectors.entries()) values.set(vector, index * dimensions);
  return { values, dimensions };
}
