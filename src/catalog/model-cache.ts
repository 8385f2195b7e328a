import type { CallerHeaders } from "../contracts/open-model.ts";

/** Settings `models[].cache`. */
export interface ModelCacheSettings {
  /** Age in seconds from which an answer is no longer used. */
  readonly ttlSeconds: number;
  /** `on_request`: only for requests with `x-parlance-cache: on`. */
  readonly use: "always" | "on_request";
  /** Whether answers of sampled requests (a temperature above 0) are cached without `x-parlance-cache: on`. */
  readonly sampled: boolean;
  /** Whether answers of requests with tools are cached without `x-parlance-cache: on`. */
  readonly tools: boolean;
  /** Whose requests an answer is for. */
  readonly sharedWithin: "project" | "organization";
}

export interface ModelCache extends ModelCacheSettings {
  /** Hash of the model's deployments: another configuration, file or weight gives other answers. */
  readonly version: string;
  /** Returns the caller's headers that reach an upstream, which may change its answer. */
  forwardedHeaders(headers: CallerHeaders): Readonly<Record<string, string>>;
}
