/** An embedding model behind a provider's own API. */

import { ZodError } from "zod";
import type {
  EmbeddingModel,
  EmbeddingRequest,
  EmbeddingResult,
  RerankRequest,
  RerankResult,
} from "../../contracts/embedding-model.ts";
import { estimateTextTokens } from "../../contracts/estimate-tokens.ts";
import type { CallerHeaders } from "../../contracts/open-model.ts";
import { type Fault, unsupportedValue } from "../../kernel/faults.ts";
import { parseOrUndefined, readErrorBody, readText } from "../openai-compatible/connection/read-body.ts";
import type { UpstreamSettings } from "../openai-compatible/connection-settings.ts";
import { UpstreamError } from "../openai-compatible/upstream-error.ts";
import { UpstreamModel, type UpstreamModelOptions } from "../openai-compatible/upstream-model.ts";
import { decodeTokenIds } from "../shared/token-ids.ts";
import type { ChatDialect, NativeCall } from "./chat-dialect.ts";
import { toRefusalFault } from "./native-chat.ts";

export interface EmbeddingDialect extends Pick<ChatDialect, "provider" | "readError"> {
  /** Maximum inputs of one call. */
  readonly batchSize: number;
  /** Throws a Fault that names what the API does not have. */
  toCall(texts: readonly string[], request: EmbeddingRequest, upstreamModel: string): NativeCall;
  /** Reads one vector for each text. Throws a ZodError for anything else. */
  read(answer: unknown): { vectors: readonly (readonly number[])[]; promptTokens: number | undefined };
  /** Left out: the provider does not rerank. */
  readonly ranking?: RankingDialect;
}

export interface RankingDialect {
  toCall(request: RerankRequest, upstreamModel: string): NativeCall;
  /** Reads the scores in the order of the documents. Throws a ZodError or an UpstreamError for anything else. */
  read(answer: unknown, request: RerankRequest): RerankResult;
}

interface NativeEmbeddingOptions extends UpstreamModelOptions<UpstreamSettings> {
  dialect: EmbeddingDialect;
}

export class NativeEmbedding extends UpstreamModel<UpstreamSettings> implements EmbeddingModel {
  readonly task = "embedding";
  readonly dimensions = undefined;
  readonly contextWindow = undefined;
  readonly rerank: EmbeddingModel["rerank"];
  readonly #dialect: EmbeddingDialect;

  constructor(options: NativeEmbeddingOptions) {
    super(options);
    this.#dialect = options.dialect;
    const { ranking } = options.dialect;
    if (ranking !== undefined) {
      this.rerank = (request, signal) => {
        const call = ranking.toCall(request, this.contextOf(request.model).upstreamModel);
        return this.#ask(call, request, signal, (answer) => ranking.read(answer, request));
      };
    }
  }

  async embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingResult> {
    const texts = await this.#textsOf(request);
    const { upstreamModel } = this.contextOf(request.model);
    const { batchSize } = this.#dialect;
    const vectors: (readonly number[])[] = [];
    let promptTokens: number | undefined = 0;
    for (let start = 0; start < texts.length; start += batchSize) {
      const batch = texts.slice(start, start + batchSize);
      const call = this.#dialect.toCall(batch, request, upstreamModel);
      const read = await this.#ask(call, request, signal, (answer) => this.#readBatch(answer, batch.length));
      vectors.push(...read.vectors);
      promptTokens =
        promptTokens === undefined || read.promptTokens === undefined ? undefined : promptTokens + read.promptTokens;
    }
    const estimated = promptTokens === undefined;
    const estimate = () => texts.reduce((sum, text) => sum + estimateTextTokens(text), 0);
    return { ...this.#join(vectors, request.model), promptTokens: promptTokens ?? estimate(), estimated };
  }

  /** Decodes token IDs of OpenAI's vocabulary, because providers take texts. */
  async #textsOf(request: EmbeddingRequest): Promise<string[]> {
    const inputs = await decodeTokenIds(request, "cl100k_base");
    return inputs.map((input) => {
      if (typeof input === "string") return input;
      throw unsupportedValue(`${this.#dialect.provider}'s API takes texts, not token IDs.`, "input");
    });
  }

  #join(vectors: readonly (readonly number[])[], model: string): Pick<EmbeddingResult, "values" | "dimensions"> {
    try {
      return join(vectors);
    } catch (error) {
      throw this.toFault(error, this.contextOf(model));
    }
  }

  #readBatch(answer: unknown, count: number): ReturnType<EmbeddingDialect["read"]> {
    const read = this.#dialect.read(answer);
    if (read.vectors.length === count) return read;
    throw new UpstreamError(`gave ${read.vectors.length} embeddings for ${count} inputs`, { dependsOnRequest: true });
  }

  async #ask<Result>(
    { path, body, headers }: NativeCall,
    { model, callerHeaders }: { model: string; callerHeaders?: CallerHeaders },
    signal: AbortSignal,
    read: (answer: unknown) => Result,
  ): Promise<Result> {
    const context = this.contextOf(model);
    const written = JSON.stringify(body);
    const credentials = await this.credentials(path, written, signal);
    const sent = { body: written, headers: { ...headers, ...credentials }, callerHeaders };
    const exchange = this.send(path, sent, signal);
    try {
      const head = await exchange.head();
      if (head === undefined) throw new UpstreamError("was aborted before it answered");
      if (head.status !== 200) throw toRefusalFault(this.#dialect, head, await readErrorBody(exchange), context);
      return read(parseOrUndefined(await readText(exchange)));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw this.#toFault(error, context);
    } finally {
      exchange.release(true);
    }
  }

  #toFault(error: unknown, context: ReturnType<typeof this.contextOf>): Fault {
    const isOther = error instanceof ZodError;
    return this.toFault(isOther ? new UpstreamError("answered with something else", { cause: error }) : error, context);
  }
}

function join(vectors: readonly (readonly number[])[]): Pick<EmbeddingResult, "values" | "dimensions"> {
  const dimensions = vectors[0]?.length ?? 0;
  if (dimensions === 0 || vectors.some(({ length }) => length !== dimensions)) {
    throw new UpstreamError("gave embeddings of different lengths", { dependsOnRequest: true });
  }
  const values = new Float32Array(vectors.length * dimensions);
  for (const [index, vector] of vectors.entries()) values.set(vector, index * dimensions);
  return { values, dimensions };
}
