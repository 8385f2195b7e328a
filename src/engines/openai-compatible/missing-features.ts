/** Features that upstreams turned out to lack, so that further requests for them are refused without asking. */

import type { ModelFeature } from "../../contracts/open-model.ts";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { UpstreamError } from "./upstream-error.ts";

const FEATURES: Record<ModelFeature, { problem: string; param: string }> = {
  completions: { problem: "does not have the legacy Completions API. Use /v1/chat/completions.", param: "prompt" },
  responses: {
    problem: "does not have the Responses API. Set `abilities: { responses: false }` to convert requests.",
    param: "input",
  },
  messages: {
    problem: "does not have Anthropic's Messages API. Set `abilities: { messages: false }` to convert requests.",
    param: "messages",
  },
  rerank: { problem: "does not rerank documents.", param: "documents" },
  "audio/translations": { problem: "does not translate; it transcribes only.", param: "model" },
  "images/generations": { problem: "does not generate images from a prompt alone.", param: "model" },
  "images/edits": { problem: "does not edit images.", param: "model" },
  "images/variations": { problem: "does not make variations. Use /v1/images/edits with a prompt.", param: "model" },
  speakers: { problem: "does not tell speakers apart. Leave 'diarized_json' out.", param: "response_format" },
  "word-times": {
    problem: "does not report word timestamps. Request those of segments.",
    param: "timestamp_granularities",
  },
};

/** Statuses of a server that does not have a path, or not for this method. */
const PATHLESS: ReadonlySet<number> = new Set([404, 405, 501]);
/** Time after which a request may try again, since upstreams are upgraded. */
const MEMORY_MS = 5 * MINUTE_MS;
/** Under a wildcard, callers choose the names of models. */
const MAX_ENTRIES = 1000;

/** The upstream lacks a feature that the request needs. */
export class MissingFeatureError extends UpstreamError {
  readonly feature: ModelFeature;

  constructor(feature: ModelFeature) {
    super(FEATURES[feature].problem);
    this.feature = feature;
  }
}

/** Returns the feature that an answer's status says the upstream lacks; undefined for operations that all have. */
export function missingOperation(
  operation: string,
  status: number,
  error: UpstreamError | undefined,
): ModelFeature | undefined {
  if (!PATHLESS.has(status) || !Object.hasOwn(FEATURES, operation)) return undefined;
  const { message = "", code = "" } = error?.details ?? {};
  return /model/i.test(message + code) ? undefined : (operation as ModelFeature);
}

export function missingFeatureFault(deployment: string, feature: ModelFeature, cause?: unknown): Fault {
  const { problem, param } = FEATURES[feature];
  const message = `The upstream of \`${deployment}\` ${problem}`;
  return new Fault("unsupported", message, { param, code: "unsupported_value", cause });
}

export class MissingFeatures {
  /** Times from which a request may try again, by feature and upstream model, oldest first. */
  readonly #until = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  add(feature: ModelFeature, upstreamModel: string): void {
    const key = keyOf(feature, upstreamModel);
    this.#until.delete(key);
    this.#until.set(key, this.#now() + MEMORY_MS);
    const [oldest] = this.#until.keys();
    if (this.#until.size > MAX_ENTRIES && oldest !== undefined) this.#until.delete(oldest);
  }

  has(feature: ModelFeature, upstreamModel: string): boolean {
    if (this.#until.size === 0) return false;
    const key = keyOf(feature, upstreamModel);
    const until = this.#until.get(key);
    if (until === undefined || until > this.#now()) return until !== undefined;
    this.#until.delete(key);
    return false;
  }
}

function keyOf(feature: ModelFeature, upstreamModel: string): string {
  return `${feature} ${upstreamModel}`;
}
