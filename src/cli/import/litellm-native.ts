/** Deployments of the engines that speak the APIs of providers. */

import { asText, type Fields } from "./imported.ts";
import { addressOf, type Entry } from "./litellm-entry.ts";
import type { Resolved } from "./litellm-providers.ts";

/** Fields of a deployment, and the parameters of LiteLLM that they were made from. */
interface Native {
  fields: Fields;
  read?: readonly string[];
}

type Problem = { problem: string };
type Convert = (entry: Entry, provider: Resolved) => Native | Problem | undefined;

const WITH_EMBEDDINGS: ReadonlySet<string> = new Set(["chat", "embedding"]);

const CONVERTERS: Readonly<Record<string, Convert>> = {
  anthropic: (entry, provider) => (entry.task === "chat" ? withKey("anthropic", entry, provider) : undefined),
  gemini: (entry, provider) => withKey("gemini", entry, provider),
  mistral: (entry, provider) => withKey("mistral", entry, provider),
  cohere: toCohere,
  cohere_chat: toCohere,
  azure: toAzure,
  azure_ai: toAzureAi,
  bedrock: toBedrock,
  bedrock_converse: toBedrock,
  vertex_ai: toVertex,
  vertex_ai_beta: toVertex,
};

/** Undefined where `openai-compatible` serves the provider, or this task of it. */
export function toNative(entry: Entry, provider: Resolved): Native | Problem | undefined {
  const convert = CONVERTERS[provider.name];
  if (convert === undefined) return undefined;
  if (WITH_EMBEDDINGS.has(entry.task)) return convert(entry, provider);
  if (provider.keyVariable !== undefined && !provider.isNative) return undefined;
  return { problem: `the engine of ${provider.name} has no ${entry.task}` };
}

function keyOf({ params, path, variables }: Entry, variable: string | undefined): string | undefined {
  return variables.secret(asText(params.api_key), variable, `${path}.litellm_params.api_key`);
}

/** LiteLLM's addresses of these providers may lack the version, which it appends. */
function withKey(engine: "anthropic" | "gemini" | "mistral" | "cohere", entry: Entry, provider: Resolved): Native {
  const version = { anthropic: "v1", gemini: "v1beta", mistral: "v1", cohere: "v2" }[engine];
  const address = addressOf(entry.params);
  const hasVersion = address === undefined || /\/v\d\w*$/.test(address) || address.startsWith("os.environ/");
  if (address?.startsWith("os.environ/") === true)
    entry.note(`${entry.path}.litellm_params.api_base`, `must end in /${version}, which LiteLLM appends.`);
  return {
    fields: {
      engine,
      base_url: address && entry.variables.text(hasVersion ? address : `${address}/${version}`),
      api_key: keyOf(entry, provider.keyVariable),
      model: entry.variables.text(provider.model),
    },
  };
}

function toCohere(entry: Entry, provider: Resolved): Native | Problem {
  if (provider.model.includes("*")) return { problem: "the engine of cohere takes no wildcard: name the models" };
  return withKey("cohere", entry, provider);
}

/** The names of Azure's deployments are not those of models, so that a wildcard stays with the v1 API. */
function toAzure(entry: Entry, provider: Resolved): Native | undefined {
  const { params, path, variables } = entry;
  if (provider.model.includes("*")) return undefined;
  const address = addressOf(params)?.replace(/\/openai(\/v1)?$/, "") ?? "os.environ/AZURE_API_BASE";
  const text = (name: string) => asText(params[name]) && variables.text(asText(params[name]) ?? "");
  const clientSecret = asText(params.client_secret);
  const entraId =
    clientSecret === undefined
      ? undefined
      : {
          tenant_id: text("tenant_id"),
          client_id: text("client_id"),
          client_secret: variables.secret(clientSecret, "AZURE_CLIENT_SECRET", `${path}.litellm_params.client_secret`),
        };
  // LiteLLM's names of the v1 API.
  const version = ["v1", "latest", "preview"].includes(asText(params.api_version) ?? "")
    ? undefined
    : text("api_version");
  return {
    fields: {
      engine: "azure-openai",
      base_url: variables.text(address),
      api_version: version,
      api_key: entraId === undefined ? keyOf(entry, provider.keyVariable) : undefined,
      entra_id: entraId,
      // LiteLLM's prefixes of model families.
      model: variables.text(provider.model.replace(/^(o_series|gpt5_series|responses)\//, "")),
    },
    read: ["api_version", "tenant_id", "client_id", "client_secret"],
  };
}

/** Claude on Azure has Anthropic's API. */
function toAzureAi(entry: Entry, provider: Resolved): Native | Problem {
  const address = addressOf(entry.params);
  if (!provider.model.startsWith("claude") || address === undefined)
    return { problem: "azure_ai has an API of its own, which no deployment speaks, except for Claude" };
  const base = /\/anthropic(\/v1)?$/.test(address)
    ? address.replace(/\/v1$/, "")
    : `${entry.variables.text(address)}/anthropic`;
  return {
    fields: {
      engine: "anthropic",
      base_url: `${base}/v1`,
      api_key: keyOf(entry, "AZURE_AI_API_KEY"),
      model: entry.variables.text(provider.model),
    },
  };
}

/** Routes of LiteLLM to Bedrock that lead to other APIs than Converse. */
const OTHER_ROUTES = /^(agent|agentcore|mantle|openai|async_invoke)\//;
const ROUTES = /^(converse|converse_like|invoke)\//;
const REGION = /^([a-z]{2}(?:-[a-z]+)+-\d)\//;

function toBedrock(entry: Entry, provider: Resolved): Native | Problem {
  const { params, path, variables } = entry;
  const route = OTHER_ROUTES.exec(provider.model)?.[1];
  if (route !== undefined) return { problem: `bedrock/${route} is another API than Converse` };
  const named = provider.model.replace(ROUTES, "");
  if (named.includes("*")) return { problem: "the engine of bedrock takes no wildcard: name the models" };
  const text = (name: string) => asText(params[name]) && variables.text(asText(params[name]) ?? "");
  const secret = (name: string, variable: string) => {
    const value = asText(params[name]);
    return value && variables.secret(value, variable, `${path}.litellm_params.${name}`);
  };
  const apiKey = asText(params.api_key);
  return {
    fields: {
      engine: "bedrock",
      region: text("aws_region_name") ?? REGION.exec(named)?.[1] ?? variables.text("os.environ/AWS_REGION"),
      base_url: text("aws_bedrock_runtime_endpoint") ?? (addressOf(params) && variables.text(addressOf(params) ?? "")),
      api_key: apiKey && keyOf(entry, "AWS_BEARER_TOKEN_BEDROCK"),
      access_key_id: secret("aws_access_key_id", "AWS_ACCESS_KEY_ID"),
      secret_access_key: secret("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
      session_token: secret("aws_session_token", "AWS_SESSION_TOKEN"),
      profile: text("aws_profile_name"),
      model: variables.text(named.replace(REGION, "")),
    },
    read: [
      ...["aws_region_name", "aws_bedrock_runtime_endpoint", "aws_access_key_id", "aws_secret_access_key"],
      ...["aws_session_token", "aws_profile_name"],
    ],
  };
}

function toVertex(entry: Entry, provider: Resolved): Native | Problem {
  const { params, path, variables, note } = entry;
  const { model } = provider;
  if (!/^(gemini|text-embedding|text-multilingual-embedding|\*$)/.test(model))
    return { problem: `${model} is not Gemini; on Vertex AI, only Gemini and embeddings are served` };
  const credentials = asText(params.vertex_credentials);
  const isPath = credentials !== undefined && !credentials.trimStart().startsWith("{");
  if (credentials !== undefined && !isPath) {
    const reason = "is a secret in the file. Write it to a file, and its path to GOOGLE_APPLICATION_CREDENTIALS.";
    note(`${path}.litellm_params.vertex_credentials`, reason);
  }
  if (isPath && credentials.startsWith("os.environ/"))
    note(`${path}.litellm_params.vertex_credentials`, "must be the path of a key file, not its content.");
  const text = (name: string, otherwise: string) => variables.text(asText(params[name]) ?? otherwise);
  return {
    fields: {
      engine: "gemini",
      vertex: {
        project: text("vertex_project", "os.environ/VERTEXAI_PROJECT"),
        // LiteLLM's default.
        location: text("vertex_location", "us-central1"),
      },
      base_url: addressOf(params) && variables.text(addressOf(params) ?? ""),
      service_account_file: variables.text(isPath ? credentials : "os.environ/GOOGLE_APPLICATION_CREDENTIALS"),
      model: variables.text(model),
    },
    read: ["vertex_project", "vertex_location", "vertex_credentials"],
  };
}
