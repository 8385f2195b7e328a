/** Finds out which server answers at an address, and what its models are. */

import type { HostAnswer, HostClient } from "./host-client.ts";

export type ServerKind =
  | "anthropic"
  | "litellm"
  | "llama-server"
  | "lm-studio"
  | "ollama"
  | "openai"
  | "openai-compatible"
  | "parlance"
  | "sglang"
  | "vllm";

export interface HostModel {
  id: string;
  /** Undefined: not known, as for what follows. */
  task: "chat" | "embedding" | undefined;
  contextWindow: number | undefined;
  tools: boolean | undefined;
  vision: boolean | undefined;
  reasoning: boolean | undefined;
}

export interface IdentifiedHost {
  kind: ServerKind;
  version: string | undefined;
  /** Where its API is, including the version. */
  baseUrl: string;
  /** True: it listed its models, and accepts the key. */
  isAccepted: boolean;
  models: readonly HostModel[];
  /** What is wrong, such as a refused key; undefined: nothing. */
  problem: string | undefined;
}

/** Models that are described one by one, as by Ollama. */
const MAX_DESCRIBED = 50;
const MAX_MODELS = 1_000;

type Fields = Readonly<Record<string, unknown>>;

/** Undefined: nothing that speaks HTTP answers. Throws AddressRefused. */
export async function identifyHost(client: HostClient, address: string): Promise<IdentifiedHost | undefined> {
  const bases = candidates(address);
  let listed: { base: string; answer: HostAnswer } | undefined;
  for (const base of bases) {
    const answer = await client.get(`${base}/models`, { "anthropic-version": "2023-06-01" });
    if (answer === undefined) continue;
    if (listed === undefined || (isList(answer) && !isList(listed.answer))) listed = { base, answer };
    if (isList(answer) || answer.status === 401 || answer.status === 403) break;
  }
  if (listed === undefined) return undefined;
  const { base, answer } = listed;
  const { kind, version } = await kindOf(client, base, answer);
  const common = { kind, version, baseUrl: base, isAccepted: isList(answer) };
  if (!common.isAccepted) return { ...common, models: [], problem: problemOf(answer) };
  const data = listIn(answer).slice(0, MAX_MODELS);
  return { ...common, models: await describeModels(client, kind, base, data), problem: undefined };
}

/** The address itself, and with the version that most servers have in it. */
function candidates(address: string): string[] {
  const url = new URL(address);
  const path = url.pathname.replace(/\/+$/, "");
  const base = `${url.origin}${path}`;
  return /\/v\d+\w*$/.test(path) ? [base] : [`${base}/v1`, base];
}

async function kindOf(
  client: HostClient,
  base: string,
  answer: HostAnswer,
): Promise<{ kind: ServerKind; version: string | undefined }> {
  const { headers } = answer;
  const { hostname, origin } = new URL(base);
  const owners = new Set(listIn(answer).map(({ owned_by }) => owned_by));
  if (headers["x-parlance-status"] !== undefined) {
    const ready = await client.get(`${origin}/health/ready`);
    return { kind: "parlance", version: textIn(ready, "version") };
  }
  if (headers["x-litellm-version"] !== undefined || headers["x-litellm-call-id"] !== undefined) {
    return { kind: "litellm", version: headers["x-litellm-version"] };
  }
  if (hostname === "api.anthropic.com" || isAnthropicAnswer(answer)) return { kind: "anthropic", version: undefined };
  if (hostname === "api.openai.com") return { kind: "openai", version: undefined };
  if (owners.has("vllm")) {
    return { kind: "vllm", version: textIn(await client.get(`${origin}/version`), "version") };
  }
  if (owners.has("sglang")) {
    return { kind: "sglang", version: textIn(await client.get(`${origin}/get_server_info`), "version") };
  }
  if (owners.has("llamacpp") || headers.server === "llama.cpp") {
    return { kind: "llama-server", version: textIn(await client.get(`${origin}/props`), "build_info") };
  }
  const ollama = await client.get(`${origin}/api/version`);
  if (ollama?.status === 200 && textIn(ollama, "version") !== undefined) {
    return { kind: "ollama", version: textIn(ollama, "version") };
  }
  const studio = await client.get(`${origin}/api/v0/models`);
  if (studio !== undefined && isList(studio)) return { kind: "lm-studio", version: undefined };
  // Servers that ask for a key before they list their models.
  const version = textIn(await client.get(`${origin}/version`), "version");
  return version === undefined ? { kind: "openai-compatible", version } : { kind: "vllm", version };
}

async function describeModels(
  client: HostClient,
  kind: ServerKind,
  base: string,
  data: readonly Fields[],
): Promise<HostModel[]> {
  const { origin } = new URL(base);
  switch (kind) {
    case "ollama":
      return Promise.all(
        data.map(async (each, index) => {
          const model = modelOf(each);
          if (index >= MAX_DESCRIBED) return model;
          const shown = await client
            .exchange("POST", `${origin}/api/show`, { json: { model: model.id } })
            .catch(() => undefined);
          return withOllamaFacts(model, fieldsOf(shown?.body));
        }),
      );
    case "lm-studio": {
      const described = listIn(await client.get(`${origin}/api/v0/models`));
      return data.map((each) => withStudioFacts(modelOf(each), described.find(({ id }) => id === each.id) ?? {}));
    }
    case "llama-server": {
      const props = fieldsOf((await client.get(`${origin}/props`))?.body);
      const window = fieldsOf(props.default_generation_settings).n_ctx;
      const vision = fieldsOf(props.modalities).vision;
      return data.map((each) => ({
        ...modelOf(each),
        contextWindow: numberOf(window) ?? numberOf(fieldsOf(each.meta).n_ctx_train),
        vision: booleanOf(vision),
      }));
    }
    case "parlance": {
      const described = listIn(await client.get(`${base}/models?include_metadata=true`));
      return data.map((each) => withParlanceFacts(modelOf(each), described.find(({ id }) => id === each.id) ?? {}));
    }
    default:
      return data.map(modelOf);
  }
}

/** `max_model_len` is that of vLLM and SGLang; `max_input_tokens`, Anthropic's; others have the rest. */
function modelOf(fields: Fields): HostModel {
  const id = String(fields.id);
  const window = [fields.max_model_len, fields.max_input_tokens, fields.context_length, fields.context_window];
  const looksLikeEmbedding = /embed|\be5\b|\bbge-|minilm/i.test(id);
  return {
    id,
    task: looksLikeEmbedding ? "embedding" : undefined,
    contextWindow: window.map(numberOf).find((each) => each !== undefined),
    tools: undefined,
    vision: undefined,
    reasoning: undefined,
  };
}

function withOllamaFacts(model: HostModel, { capabilities, model_info: info }: Fields): HostModel {
  const length = Object.entries(fieldsOf(info)).find(([name]) => name.endsWith(".context_length"))?.[1];
  const contextWindow = numberOf(length) ?? model.contextWindow;
  if (!Array.isArray(capabilities)) return { ...model, contextWindow };
  return {
    ...model,
    contextWindow,
    task: capabilities.includes("embedding") ? "embedding" : "chat",
    tools: capabilities.includes("tools"),
    vision: capabilities.includes("vision"),
    reasoning: capabilities.includes("thinking"),
  };
}

function withStudioFacts(model: HostModel, { type, capabilities, ...fields }: Fields): HostModel {
  return {
    ...model,
    contextWindow: numberOf(fields.loaded_context_length) ?? numberOf(fields.max_context_length),
    task: type === "embeddings" ? "embedding" : type === undefined ? model.task : "chat",
    tools: Array.isArray(capabilities) ? capabilities.includes("tool_use") : undefined,
    vision: type === undefined ? undefined : type === "vlm",
  };
}

function withParlanceFacts(model: HostModel, entry: Fields): HostModel {
  const { task, context_window: window, capabilities } = fieldsOf(entry.metadata);
  const can = fieldsOf(capabilities);
  return {
    ...model,
    task: task === "chat" || task === "embedding" ? task : undefined,
    contextWindow: numberOf(window),
    tools: booleanOf(can.tools),
    vision: booleanOf(can.vision),
    reasoning: booleanOf(can.reasoning),
  };
}

function isList(answer: HostAnswer): boolean {
  return answer.status === 200 && Array.isArray(fieldsOf(answer.body).data);
}

function isAnthropicAnswer({ body, headers }: HostAnswer): boolean {
  const { type, data } = fieldsOf(body);
  if (headers["anthropic-organization-id"] !== undefined || type === "error") return true;
  return Array.isArray(data) && data.length > 0 && data.every((each) => fieldsOf(each).type === "model");
}

function listIn(answer: HostAnswer | undefined): Fields[] {
  const { data } = fieldsOf(answer?.body);
  return Array.isArray(data) ? data.map(fieldsOf).filter(({ id }) => typeof id === "string") : [];
}

const MAX_MESSAGE = 300;

function problemOf({ status, body }: HostAnswer): string {
  if (status === 401 || status === 403) return "The server refuses the API key.";
  const message = messageIn(body);
  return `GET /models is answered with status ${status}${message === undefined ? "" : `: ${message}`}.`;
}

/** The server's own message of an error, without control characters. */
export function messageIn(body: unknown): string | undefined {
  const { error, message } = fieldsOf(body);
  const text = fieldsOf(error).message ?? message ?? error;
  return typeof text === "string" ? text.replace(/\p{Cc}+/gu, " ").slice(0, MAX_MESSAGE) : undefined;
}

function textIn(answer: HostAnswer | undefined, field: string): string | undefined {
  const value = answer?.status === 200 ? fieldsOf(answer.body)[field] : undefined;
  return typeof value === "string" ? value.replace(/\p{Cc}+/gu, " ").slice(0, 100) : undefined;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

function booleanOf(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}
