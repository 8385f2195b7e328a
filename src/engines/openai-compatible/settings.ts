/** Settings of a deployment of this engine. */

import { z } from "zod";
import { tokenIdsSetting } from "../shared/token-ids.ts";
import { baseUrl, CONNECTION_FIELDS, secret, toConnectionSettings } from "./connection-settings.ts";
import { endpoints, toEndpointSource } from "./endpoint-settings.ts";

const ability = z.boolean().optional();

const abilities = z
  .strictObject({
    tools: ability.describe("Supports tool calls"),
    json_schema: ability.describe(
      "Enforces JSON output. false: Parlance asks for JSON in the prompt, validates the response and retries once if it is invalid",
    ),
    vision: ability.describe("Supports image input"),
    logprobs: ability.describe("Returns log probabilities"),
    rerank: ability.describe(
      "Of an embedding model: reranks by itself, at /rerank, like a cross-encoder. Default: documents are ranked by the cosine of their embeddings",
    ),
    completions: ability.describe("Has the legacy Completions API: requests are forwarded to /completions"),
    infill: ability.describe("Fills in the middle: completions may have a `suffix`"),
    responses: ability.describe("Has the Responses API: requests are forwarded to /responses. Default: false"),
    messages: ability.describe(
      "Has Anthropic's Messages API: requests are forwarded to /messages. Anthropic itself wants its key in `headers: { x-api-key: … }`. Default: false",
    ),
  })
  .transform(({ json_schema, ...others }) => ({ ...others, jsonSchema: json_schema }));

const fields = {
  base_url: baseUrl.describe("Base URL including the version, such as http://10.0.0.5:8000/v1"),
  endpoints: endpoints.optional(),
  ...CONNECTION_FIELDS,
  api_key: secret.optional().describe("API key, sent as Authorization: Bearer"),
  abilities: abilities
    .prefault({})
    .describe(
      "Capabilities of a chat model. false: requests that need it get a 400. Default: unknown; requests are forwarded",
    ),
  token_ids: tokenIdsSetting,
  probe: z
    .boolean()
    .default(true)
    .describe(
      "Whether to probe the upstream with GET /models while its circuit is open. false: a request probes it after the cooldown",
    ),
  metrics_path: z
    .string()
    .regex(/^\/[\x21-\x7e]*$/, { error: "must begin with / and contain no spaces, such as /metrics" })
    .optional()
    .describe(
      "Path of the engine's own metrics at the upstream's address: /metrics of vLLM, SGLang and llama-server --metrics, or /slots of llama-server. Running and waiting requests and cache usage are read there for routing. Default: only the requests of this process count",
    ),
  metrics_interval_seconds: z
    .number()
    .min(0.1)
    .max(60)
    .default(1)
    .describe("Seconds between two reads of `metrics_path`, and their timeout; after two failures the load is unknown"),
};

const { model: _model, context_window: _window, max_concurrency: _concurrency, ...shared } = CONNECTION_FIELDS;

/** Settings that say where an upstream is and how to reach it, which `connections` share among deployments. */
export const connectionFields = {
  base_url: fields.base_url,
  endpoints: fields.endpoints,
  api_key: fields.api_key,
  ...shared,
  probe: fields.probe,
  metrics_path: fields.metrics_path,
  metrics_interval_seconds: fields.metrics_interval_seconds,
};

export const openAiCompatibleSettings = z
  .strictObject(fields)
  .refine((value) => value.endpoints === undefined || value.proxy === undefined, {
    path: ["endpoints"],
    error: "cannot be set together with proxy, which connects to base_url by itself",
  })
  .transform((value) => ({
    baseUrl: value.base_url,
    ...toConnectionSettings(value),
    endpoints: value.endpoints && toEndpointSource(value.endpoints, value.base_url),
    apiKey: value.api_key,
    abilities: value.abilities,
    tokenIds: value.token_ids,
    probe: value.probe,
    metricsPath: value.metrics_path,
    metricsIntervalSeconds: value.metrics_interval_seconds,
  }));

export type OpenAiCompatibleSettings = z.output<typeof openAiCompatibleSettings>;
