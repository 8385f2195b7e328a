/** An embedding model behind any API of OpenAI's kind. */

import { convertLargeJson, LARGE_JSON_BYTES } from "../../json/large-json.ts";
import type { EmbeddingInput, EmbeddingModel, EmbeddingRequest, EmbeddingResult } from "../engine.ts";
import { estimateTextTokens } from "../estimate-tokens.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { decodeOpenAiIds, isOpenAiEmbeddingModel } from "../openai-embedding-models.ts";
import { convert } from "./embedding-answer.ts";
import type { Exchange } from "./exchange.ts";
import { parseOrUndefined, readBytes } from "./read-body.ts";
import { readErrorResponse } from "./read-error-response.ts";
import { UpstreamError } from "./upstream-error.ts";
import type { FaultContext } from "./upstream-fault.ts";
import { UpstreamModel } from "./upstream-model.ts";

const CONVERTER = siblingModule(import.meta.url, "./embedding-answer");

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
    const json = await readBytes(exchange);
    const { length: count } = inputs;
    const read =
      json.length < LARGE_JSON_BYTES
        ? convert(parseOrUndefined(json.toString()), count)
        : ((await convertLargeJson(json, CONVERTER, count)) as ReturnType<typeof convert>);
    if ("problem" in read) throw new UpstreamError(read.problem, read.details);
    const { promptTokens, ...vectors } = read;
    const isReported = promptTokens !== undefined;
    const counted = isReported ? promptTokens : inputs.reduce((sum, input) => sum + estimateTokens(input), 0);
    return { ...vectors, promptTokens: counted, estimated: !isReported };
  }
}

function estimateTokens(input: EmbeddingInput): number {
  return typeof input === "string" ? estimateTextTokens(input) : input.length;
}
