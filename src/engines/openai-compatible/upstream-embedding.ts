/** An embedding model behind any API of OpenAI's kind. */

import type {
  EmbeddingInput,
  EmbeddingModel,
  EmbeddingRequest,
  EmbeddingResult,
  RerankRequest,
  RerankResult,
} from "../../contracts/embedding-model.ts";
import { estimateTextTokens } from "../../contracts/estimate-tokens.ts";
import type { CallerHeaders } from "../../contracts/open-model.ts";
import { convertLargeJson, LARGE_JSON_BYTES } from "../../kernel/json/large-json.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { decodeTokenIds, isOpenAiEmbeddingModel } from "../shared/token-ids.ts";
import { parseOrUndefined, readBytes } from "./connection/read-body.ts";
import { convert } from "./embedding-answer.ts";
import { readErrorResponse } from "./read-error-response.ts";
import type { OpenAiCompatibleSettings } from "./settings.ts";
import { UpstreamError } from "./upstream-error.ts";
import type { FaultContext } from "./upstream-fault.ts";
import { UpstreamModel, type UpstreamModelOptions } from "./upstream-model.ts";
import { readRerankAnswer } from "./upstream-rerank.ts";

const CONVERTER = siblingModule(import.meta.url, "./embedding-answer");

export class UpstreamEmbedding extends UpstreamModel implements EmbeddingModel {
  readonly task = "embedding";
  readonly dimensions = undefined;
  readonly contextWindow = undefined;
  readonly rerank: EmbeddingModel["rerank"];

  constructor(options: UpstreamModelOptions<OpenAiCompatibleSettings>) {
    super(options);
    if (options.settings.abilities.rerank === true) this.rerank = (request, signal) => this.#rerank(request, signal);
  }

  async embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingResult> {
    const context = this.contextOf(request.model);
    const { dimensions, encoding, user } = request;
    const isOpenAi = isOpenAiEmbeddingModel(context.upstreamModel);
    const input = isOpenAi ? request.inputs : await decodeTokenIds(request, this.settings.tokenIds);
    const body = JSON.stringify({ model: context.upstreamModel, input, dimensions, encoding_format: encoding, user });
    const { callerHeaders } = request;
    return this.#ask("embeddings", { body, callerHeaders }, context, signal, (json) => readVectors(json, input));
  }

  async #rerank(request: RerankRequest, signal: AbortSignal): Promise<RerankResult> {
    const context = this.contextOf(request.model, "rerank");
    const { query, documents, callerHeaders } = request;
    const body = JSON.stringify({ model: context.upstreamModel, query, documents });
    const read = (json: Buffer) => readRerankAnswer(parseOrUndefined(json.toString()), request);
    return this.#ask("rerank", { body, callerHeaders }, context, signal, read);
  }

  async #ask<Result>(
    operation: "embeddings" | "rerank",
    call: { body: string; callerHeaders: CallerHeaders | undefined },
    context: FaultContext,
    signal: AbortSignal,
    read: (json: Buffer) => Result | Promise<Result>,
  ): Promise<Result> {
    const headers = await this.credentials(operation, call.body, signal);
    const exchange = this.send(operation, { ...call, ...(headers && { headers }) }, signal);
    try {
      const head = await exchange.head();
      if (head === undefined) throw new UpstreamError("was aborted before it answered");
      if (head.status !== 200) throw await readErrorResponse(head, exchange, context);
      return await read(await readBytes(exchange));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw this.toFault(error, context);
    } finally {
      exchange.release(true);
    }
  }
}

async function readVectors(json: Buffer, inputs: readonly EmbeddingInput[]): Promise<EmbeddingResult> {
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

function estimateTokens(input: EmbeddingInput): number {
  return typeof input === "string" ? estimateTextTokens(input) : input.length;
}
