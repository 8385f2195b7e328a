/** An embedding model behind any API of OpenAI's kind. Its vectors may come as numbers or as base64. */

import { z } from "zod";
import type { EmbeddingInput, EmbeddingModel, EmbeddingRequest, EmbeddingResult } from "../engine.ts";
import { estimateTextTokens } from "../estimate-tokens.ts";
import { decodeOpenAiIds, isOpenAiEmbeddingModel } from "../openai-embedding-models.ts";
import type { Exchange } from "./exchange.ts";
import { parseOrUndefined, readText } from "./read-body.ts";
import { readErrorResponse } from "./read-error-response.ts";
import { parseUpstreamError, UpstreamError } from "./upstream-error.ts";
import type { FaultContext } from "./upstream-fault.ts";
import { UpstreamModel } from "./upstream-model.ts";

const Answer = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.union([z.string(), z.array(z.number())]) })),
  usage: z
    .object({ prompt_tokens: z.int().min(0) })
    .nullish()
    .catch(undefined),
});

const BYTES_PER_VALUE = 4;

export class UpstreamEmbedding extends UpstreamModel implements EmbeddingModel {
  readonly task = "embedding";
  readonly dimensions = undefined;
  readonly contextWindow = undefined;

  async embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingResult> {
    const context = this.contextOf(request.model);
    const { dimensions, encoding, user } = request;
    // Here OpenAI's name is an alias of a model with another vocabulary.
    const isRenamed = request.usesOpenAiName && !isOpenAiEmbeddingModel(context.upstreamModel);
    const input = isRenamed ? await decodeOpenAiIds(request.inputs) : request.inputs;
    const body = JSON.stringify({ model: context.upstreamModel, input, dimensions, encoding_format: encoding, user });
    const exchange = this.send("embeddings", { body, callerHeaders: request.callerHeaders }, signal);
    try {
      return await this.#read(exchange, input, context);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw this.toFault(error, context);
    } finally {
      exchange.release(true);
    }
  }

  async #read(exchange: Exchange, inputs: readonly EmbeddingInput[], context: FaultContext): Promise<EmbeddingResult> {
    const head = await exchange.head();
    if (head === undefined) throw new UpstreamError("was aborted before it answered");
    if (head.status !== 200) throw await readErrorResponse(head, exchange, context);
    const answer = parseOrUndefined(await readText(exchange));
    const error = parseUpstreamError(answer);
    if (error !== undefined) throw error;
    const checked = Answer.safeParse(answer);
    if (!checked.success) throw new UpstreamError("answered with something other than embeddings");
    const { data, usage } = checked.data;
    const sorted = data.toSorted((a, b) => a.index - b.index);
    if (sorted.length !== inputs.length || sorted.some(({ index }, position) => index !== position)) {
      throw new UpstreamError(`gave ${sorted.length} embeddings for ${inputs.length} inputs`);
    }
    const promptTokens = usage?.prompt_tokens ?? inputs.reduce((sum, input) => sum + estimateTokens(input), 0);
    return { ...join(sorted.map(({ embedding }) => toVector(embedding))), promptTokens, estimated: !usage };
  }
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
    throw new UpstreamError("gave embeddings of different lengths");
  }
  const values = new Float32Array(vectors.length * dimensions);
  for (const [index, vector] of vectors.entries()) values.set(vector, index * dimensions);
  return { values, dimensions };
}

function estimateTokens(input: EmbeddingInput): number {
  return typeof input === "string" ? estimateTextTokens(input) : input.length;
}
