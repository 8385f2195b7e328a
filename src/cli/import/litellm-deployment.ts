/** Converts the parameters of an entry of LiteLLM's model list to a deployment. */

import { toPrice } from "../../catalog/prices/litellm-prices.ts";
import { asFields, asPositive, asText, compact, type Fields } from "./imported.ts";
import { addressOf, type Entry } from "./litellm-entry.ts";
import { toNative } from "./litellm-native.ts";
import { type Resolved, resolveProvider } from "./litellm-providers.ts";
import { PARAM_REASONS } from "./litellm-reasons.ts";

/** Parameters that are defaults of requests. */
export const DEFAULTS = ["temperature", "top_p", "frequency_penalty", "presence_penalty", "reasoning_effort"] as const;

/** Parameters of an entry that were read, or that change nothing here. */
const READ_PARAMS = new Set<string>([
  ...["model", "custom_llm_provider", "api_base", "base_url", "api_key", "weight", "rpm", "tpm"],
  ...["timeout", "stream_timeout", "max_tokens", "max_parallel_requests", "extra_headers", "headers"],
  ...["drop_params", "base_model", "max_retries", "num_retries", ...DEFAULTS],
]);

/** Undefined, with a note, where no engine speaks the provider's API. */
export function toDeployment(entry: Entry): Record<string, unknown> | undefined {
  const { params, info, path, variables, note } = entry;
  const provider = resolveProvider(asText(params.model) ?? "", asText(params.custom_llm_provider));
  if ("unsupported" in provider) {
    note(path, `${provider.unsupported} has an API of its own, which no deployment speaks; the model was left out.`);
    return undefined;
  }
  if (provider.isAssumed) note(`${path}.litellm_params.model`, "names no known provider; openai was assumed.");
  const native = toNative(entry, provider);
  if (native !== undefined && "problem" in native) {
    note(path, `${native.problem}; the model was left out.`);
    return undefined;
  }
  const { fields, read = [] } = native ?? { fields: toCompatible(entry, provider) };
  if (fields === undefined) {
    note(path, `${provider.name} needs api_base; the model was left out.`);
    return undefined;
  }
  noteUnread(entry, new Set([...READ_PARAMS, ...read]));
  noteTimeouts(entry);
  const contextWindow = asPositive(info.max_input_tokens);
  if (contextWindow !== undefined && entry.task !== "chat")
    note(`${path}.model_info.max_input_tokens`, "has no counterpart: the upstream refuses longer inputs.");
  const headers = Object.entries({ ...asFields(params.headers), ...asFields(params.extra_headers) });
  return compact({
    ...fields,
    headers: compact({
      ...asFields(fields.headers),
      ...Object.fromEntries(headers.map(([name, value]) => [name, variables.text(String(value))])),
    }),
    context_window: entry.task === "chat" ? contextWindow : undefined,
    max_concurrency: asPositive(params.max_parallel_requests),
    first_byte_timeout_seconds: asPositive(params.stream_timeout) ?? asPositive(params.timeout),
    price: toPrice({ ...info, ...params }),
  });
}

function noteUnread({ params, path, note }: Entry, read: ReadonlySet<string>): void {
  for (const name of Object.keys(params)) {
    if (read.has(name) || name.includes("cost")) continue;
    note(`${path}.litellm_params.${name}`, PARAM_REASONS[name] ?? "has no counterpart.");
  }
}

/** LiteLLM bounds the complete request, and a stream by `stream_timeout`. */
function noteTimeouts({ params, path, note }: Entry): void {
  const names = ["stream_timeout", "timeout"].filter((name) => asPositive(params[name]) !== undefined);
  for (const [index, name] of names.entries()) {
    const reason =
      index === 0
        ? "became first_byte_timeout_seconds, which ends with the first byte. server.request_timeout_seconds bounds the complete request."
        : "was left out: stream_timeout became first_byte_timeout_seconds. server.request_timeout_seconds bounds the complete request.";
    note(`${path}.litellm_params.${name}`, reason);
  }
}

/** Fields of a deployment of `openai-compatible`; undefined without an address. */
function toCompatible({ params, path, variables, note }: Entry, provider: Resolved): Fields | undefined {
  const written = addressOf(params);
  const address = written && variables.text(written);
  const baseUrl = compatibleAddress(provider.name, address) ?? provider.baseUrl;
  if (baseUrl === undefined) return undefined;
  const variable = provider.baseUrl !== undefined && address !== undefined ? undefined : provider.keyVariable;
  const key = variables.secret(asText(params.api_key), variable, `${path}.litellm_params.api_key`);
  const isAzure = provider.name === "azure";
  if (isAzure) {
    const reason = "is not sent: the deployment uses Azure's v1 API. Check that it is enabled.";
    note(`${path}.litellm_params.api_version`, reason);
  }
  return {
    engine: "openai-compatible",
    base_url: baseUrl,
    api_key: isAzure ? undefined : key,
    model: variables.text(provider.model),
    headers: isAzure ? compact({ "api-key": key }) : undefined,
    ...provider.settings,
  };
}

function compatibleAddress(provider: string, base: string | undefined): string | undefined {
  if (base === undefined) return undefined;
  if (provider === "ollama" || provider === "ollama_chat") return base.endsWith("/v1") ? base : `${base}/v1`;
  if (provider !== "azure") return base;
  return base.endsWith("/openai/v1") ? base : `${base}/openai/v1`;
}
