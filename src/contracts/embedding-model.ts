/** Contract of models that embed texts, and rank documents. Types only. */

import type { CallerHeaders, OpenModel } from "./open-model.ts";

export interface EmbeddingModel extends OpenModel {
  readonly task: "embedding";
  /** Length of its vectors; undefined when an upstream does not say. */
  readonly dimensions: number | undefined;
  /** Tokens of one input that it reads at once; undefined when an upstream does not say. */
  readonly contextWindow: number | undefined;
  /** One vector for each input, in order. Throws a Fault when an input cannot be embedded completely. */
  embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingResult>;
  /** True for a model in another process that has `rerank`. */
  readonly ranks?: boolean;
  /** Scores documents by itself. Default: the cosine of their vectors. */
  rerank?(request: RerankRequest, signal: AbortSignal): Promise<RerankResult>;
}

/** A text, or token IDs. */
export type EmbeddingInput = string | readonly number[];

export interface EmbeddingRequest {
  /** The catalog ID that was asked for. */
  model: string;
  inputs: readonly EmbeddingInput[];
  /** Length of the vectors; undefined: the model's own. */
  dimensions: number | undefined;
  /** Whether the caller requested a model by a name of OpenAI's, so it counts tokens with another vocabulary. */
  usesOpenAiName: boolean;
  /** What the caller expects for an input beyond the model's window; undefined: what the deployment says. */
  longInput?: "refuse" | "average" | undefined;
  /** Vocabulary of token IDs in `inputs`; undefined: that of the deployment's setting. */
  tokenIds: "cl100k_base" | "model" | undefined;
  /** `ranking`: the first input is a query, and the others are documents to compare with it. */
  purpose?: "ranking";
  /** Project that the request counts for; requests of several projects take turns. */
  project: string;
  /** Encoding requested from an upstream. */
  encoding: "float" | "base64";
  /** Caller's identifier of its user, for upstreams. */
  user: string | undefined;
  callerHeaders?: CallerHeaders;
}

export interface RerankRequest {
  /** The requested catalog ID. */
  model: string;
  query: string;
  documents: readonly string[];
  /** Project that the request counts for. */
  project: string;
  callerHeaders?: CallerHeaders;
}

export interface RerankResult {
  /** Relevance of each document, in their order. */
  scores: readonly number[];
  promptTokens: number;
  /** Whether `promptTokens` is an estimate. */
  estimated: boolean;
}

export interface EmbeddingResult {
  /** One vector after the other, in the order of the inputs. */
  values: Float32Array;
  dimensions: number;
  promptTokens: number;
  /** Whether `promptTokens` is an estimate. */
  estimated: boolean;
}
