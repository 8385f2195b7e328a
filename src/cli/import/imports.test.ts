import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import { loadConfig } from "../../config/load-config.ts";
import { configSources } from "../config-sources.ts";
import type { Imported } from "./imported.ts";
import { fromLiteLlm } from "./litellm-config.ts";
import { fromLlamaSwap } from "./llama-swap-config.ts";
import { fromOllama } from "./ollama-models.ts";

interface ImportedModel {
  id: string;
  [name: string]: unknown;
  deployments: Record<string, unknown>[];
}

function modelsOf({ config }: Imported): ImportedModel[] {
  return config.models as ImportedModel[];
}

function reasonsOf({ notes }: Imported): Record<string, string> {
  return Object.fromEntries(notes.map(({ path, reason }) => [path, reason]));
}

/** Loads the result as the service would, with every variable that it names. */
async function load(imported: Imported) {
  const text = stringify(imported.config);
  const names = [...text.matchAll(/\$\{([A-Z_0-9]+)\}/g)].map(([, name]) => [name, "value"]);
  await using directory = await temporaryDirectory();
  await writeFile(join(directory.path, "parlance.yaml"), text);
  return await loadConfig({
    ...configSources(),
    ...{ environment: Object.fromEntries(names), workingDirectory: directory.path },
  });
}

/** Reference to a variable, as in parlance.yaml, or to a macro of llama-swap. */
function ref(name: string): string {
  return `\${${name}}`;
}

const LITELLM = {
  model_list: [
    {
      model_name: "team-chat",
      litellm_params: {
        model: "openai/gpt-4.1",
        api_key: "os.environ/KEY_A",
        rpm: 10,
        temperature: 0.2,
        max_tokens: 50,
      },
      model_info: { access_groups: ["staff"], input_cost_per_token: 2e-6, output_cost_per_token: 8e-6 },
    },
    {
      model_name: "team-chat",
      litellm_params: {
        ...{ model: "azure/my-deployment", api_base: "https://eu.openai.azure.com/", api_key: "literal-one" },
        ...{ api_version: "2024-10-21", rpm: 30, temperature: 0.2, max_tokens: 50 },
      },
    },
    { model_name: "small", litellm_params: { model: "gpt-4.1-mini", api_key: "literal-two" } },
    { model_name: "vectors", litellm_params: { model: "hosted_vllm/bge-m3", api_base: "http://10.0.0.5:8000/v1" } },
    { model_name: "anthropic/*", litellm_params: { model: "anthropic/*" } },
    { model_name: "claude", litellm_params: { model: "sagemaker/claude" } },
    { model_name: "*", litellm_params: { model: "openai/*" } },
    { model_name: "picture", litellm_params: { model: "dall-e-3" } },
    { model_name: "voice", litellm_params: { model: "openai/tts-1" }, model_info: { mode: "audio_speech" } },
    { model_name: "local", litellm_params: { model: "ollama/llama3.2", mock_response: "hi" } },
  ],
  litellm_settings: { num_retries: 3, request_timeout: 120, success_callback: ["langfuse"], cache: true },
  router_settings: {
    routing_strategy: "simple-shuffle",
    fallbacks: [{ "team-chat": ["small", "vectors", "missing"] }],
    context_window_fallbacks: [{ "team-chat": ["local"] }, { small: ["local"] }],
    model_group_alias: { "gpt-4": "team-chat", hidden: { model: "small", hidden: true } },
    allowed_fails: 4,
  },
  general_settings: { master_key: "sk-1234" },
};

test("converts LiteLLM's models, deployments, prices, aliases and fallbacks to a valid configuration", async () => {
  const imported = fromLiteLlm(LITELLM);
  const models = modelsOf(imported);
  expect(models.map(({ id, task }) => [id, task])).toEqual([
    ...[
      ["team-chat", "chat"],
      ["small", "chat"],
      ["vectors", "embedding"],
      ["anthropic/*", "chat"],
    ],
    ...[
      ["picture", "image"],
      ["voice", "speech"],
      ["local", "chat"],
    ],
  ]);
  expect(models[0]).toEqual({
    ...{ id: "team-chat", task: "chat", aliases: ["gpt-4"], access_groups: ["staff"] },
    fallbacks: ["small", { model: "local", when: "context_length" }],
    ...{ strategy: "weighted", retries: 3, circuit: { failures: 4 } },
    defaults: { temperature: 0.2, max_completion_tokens: 50 },
    deployments: [
      {
        ...{ engine: "openai-compatible", base_url: "https://api.openai.com/v1", model: "gpt-4.1", weight: 10 },
        ...{ api_key: ref("KEY_A"), price: { prompt: "0.000002", completion: "0.000008" } },
      },
      {
        ...{ engine: "azure-openai", base_url: "https://eu.openai.azure.com", model: "my-deployment", weight: 30 },
        ...{ api_version: "2024-10-21", api_key: ref("AZURE_API_KEY") },
      },
    ],
  });
  expect(models[1]?.aliases).toEqual(["hidden"]);
  expect(models[3]?.deployments[0]).toEqual({ engine: "anthropic", model: "*", api_key: ref("ANTHROPIC_API_KEY") });
  expect(models[6]?.deployments[0]).toMatchObject({ base_url: "http://127.0.0.1:11434/v1", model: "llama3.2" });
  const config = await load(imported);
  expect(config.models).toHaveLength(7);
  expect(config.server.requestTimeoutSeconds).toBe(120);
});

test("names what was not carried over from LiteLLM, and keeps no secret", () => {
  const imported = fromLiteLlm(LITELLM);
  const reasons = reasonsOf(imported);
  expect(reasons["model_list[1].litellm_params.api_key"]).toContain("AZURE_API_KEY");
  expect(reasons["model_list[2].litellm_params.api_key"]).toContain("OPENAI_API_KEY");
  expect(reasons["model_list[5]"]).toContain("sagemaker has an API of its own");
  expect(reasons["model_list[6]"]).toContain("needs a prefix");
  expect(reasons["model_list[9].litellm_params.mock_response"]).toBe("has no counterpart.");
  expect(reasons["fallbacks.team-chat"]).toBe("missing is not in the model list.");
  expect(imported.notes).toContainEqual({
    path: "fallbacks.team-chat",
    reason: "vectors has another task than team-chat.",
  });
  expect(reasons["litellm_settings.cache"]).toBeDefined();
  expect(reasons["general_settings.master_key"]).toContain("PARLANCE_ADMIN_KEY");
  expect(JSON.stringify(imported)).not.toMatch(/literal-|sk-1234/);
});

test("gives a secret in LiteLLM's file a variable that no other entry reads", () => {
  const keys = ["literal-1", "os.environ/OPENAI_API_KEY", "literal-2", "literal-1", undefined];
  const source = {
    model_list: keys.map((api_key, index) => ({
      model_name: `model-${index}`,
      litellm_params: { model: "openai/gpt-4o", ...(api_key && { api_key }) },
    })),
  };
  const models = fromLiteLlm(source).config.models as { deployments: { api_key: string }[] }[];
  expect(models.map(({ deployments }) => deployments[0]?.api_key)).toEqual([
    ref("OPENAI_API_KEY_2"),
    ref("OPENAI_API_KEY"),
    ref("OPENAI_API_KEY_3"),
    ref("OPENAI_API_KEY_2"),
    ref("OPENAI_API_KEY"),
  ]);
});

const NATIVE: readonly [params: object, deployment: object][] = [
  [
    {
      model: "anthropic/claude-sonnet-5",
      api_base: "https://api.anthropic.com",
      extra_headers: { "anthropic-beta": "x" },
    },
    {
      ...{ engine: "anthropic", base_url: "https://api.anthropic.com/v1", model: "claude-sonnet-5" },
      ...{ api_key: ref("ANTHROPIC_API_KEY"), headers: { "anthropic-beta": "x" } },
    },
  ],
  [
    { model: "gemini/gemini-2.5-pro", api_key: "os.environ/GOOGLE" },
    { engine: "gemini", model: "gemini-2.5-pro", api_key: ref("GOOGLE") },
  ],
  [{ model: "mistral/mistral-embed" }, { engine: "mistral", model: "mistral-embed", api_key: ref("MISTRAL_API_KEY") }],
  [
    { model: "cohere/rerank-v3.5", api_base: "https://api.cohere.ai" },
    { engine: "cohere", base_url: "https://api.cohere.ai/v2", model: "rerank-v3.5", api_key: ref("COHERE_API_KEY") },
  ],
  [
    { model: "cohere_chat/command-a-03-2025" },
    { engine: "cohere", model: "command-a-03-2025", api_key: ref("COHERE_API_KEY") },
  ],
  [
    { model: "bedrock/converse/us.anthropic.claude-haiku-4-5-20251001-v1:0", aws_region_name: "us-east-1" },
    { engine: "bedrock", region: "us-east-1", model: "us.anthropic.claude-haiku-4-5-20251001-v1:0" },
  ],
  [
    {
      ...{ model: "bedrock/eu-central-1/amazon.nova-lite-v1:0", aws_access_key_id: "os.environ/ID" },
      aws_secret_access_key: "literal-secret",
    },
    {
      ...{ engine: "bedrock", region: "eu-central-1", model: "amazon.nova-lite-v1:0", access_key_id: ref("ID") },
      secret_access_key: ref("AWS_SECRET_ACCESS_KEY"),
    },
  ],
  [
    { model: "bedrock/amazon.titan-embed-text-v2:0", aws_profile_name: "team" },
    { engine: "bedrock", region: ref("AWS_REGION"), model: "amazon.titan-embed-text-v2:0", profile: "team" },
  ],
  [
    { model: "vertex_ai/gemini-2.5-pro", vertex_project: "my-project", vertex_credentials: "/etc/key.json" },
    {
      ...{ engine: "gemini", model: "gemini-2.5-pro", service_account_file: "/etc/key.json" },
      vertex: { project: "my-project", location: "us-central1" },
    },
  ],
  [
    {
      ...{ model: "azure/gpt-5", api_base: "os.environ/AZURE_API_BASE", api_version: "preview" },
      ...{ tenant_id: "tenant", client_id: "client", client_secret: "os.environ/SECRET" },
    },
    {
      ...{ engine: "azure-openai", base_url: ref("AZURE_API_BASE"), model: "gpt-5" },
      entra_id: { tenant_id: "tenant", client_id: "client", client_secret: ref("SECRET") },
    },
  ],
  [
    { model: "azure/*", api_base: "os.environ/AZURE_API_BASE" },
    {
      ...{ engine: "openai-compatible", base_url: `${ref("AZURE_API_BASE")}/openai/v1`, model: "*" },
      headers: { "api-key": ref("AZURE_API_KEY") },
    },
  ],
  [
    { model: "azure_ai/claude-sonnet-4-6", api_base: "https://x.services.ai.azure.com" },
    {
      ...{ engine: "anthropic", base_url: "https://x.services.ai.azure.com/anthropic/v1", model: "claude-sonnet-4-6" },
      api_key: ref("AZURE_AI_API_KEY"),
    },
  ],
];

test("converts models of providers to the engines that speak their APIs", async () => {
  const nameOf = (params: object) => (params as { model: string }).model.replace("azure/*", "azure-all/*");
  const entries = NATIVE.map(([params]) => ({ model_name: nameOf(params), litellm_params: params }));
  const imported = fromLiteLlm({ model_list: entries });
  const deployments = modelsOf(imported).map((model) => model.deployments[0]);
  expect(deployments).toEqual(NATIVE.map(([, deployment]) => deployment));
  expect(JSON.stringify(imported)).not.toContain("literal-");
  // A connection needs an address, and a file of a service account has to be there.
  const loadable = { ...imported.config, models: modelsOf(imported).filter(({ id }) => !id.includes("azure")) };
  expect((await load({ ...imported, config: loadable })).models).toHaveLength(NATIVE.length - 3);
});

test.each([
  ["bedrock/agentcore/arn:aws:x", "bedrock/agentcore is another API than Converse"],
  ["bedrock/*", "takes no wildcard"],
  ["cohere/*", "takes no wildcard"],
  ["vertex_ai/claude-sonnet-4-6", "is not Gemini"],
  ["azure_ai/llama", "except for Claude"],
])("names %s, which no engine serves", (model, reason) => {
  const imported = fromLiteLlm({ model_list: [{ model_name: "m/*", litellm_params: { model } }] });
  expect(imported.config.models).toBeUndefined();
  expect(reasonsOf(imported)["model_list[0]"]).toContain(reason);
});

test("names what a provider's engine has no task for, and credentials that stand in the file", () => {
  const entry = (params: object, mode?: string) => ({
    model_name: JSON.stringify(params),
    litellm_params: params,
    model_info: { mode },
  });
  const imported = fromLiteLlm({
    model_list: [
      entry({ model: "vertex_ai/gemini-tts" }, "audio_speech"),
      entry({ model: "vertex_ai/gemini-2.5-pro", vertex_credentials: '{"private_key":"literal-key"}' }),
      entry({ model: "azure/whisper", api_base: "https://x.openai.azure.com" }, "audio_transcription"),
    ],
  });
  expect(reasonsOf(imported)).toMatchObject({
    "model_list[0]": "the engine of vertex_ai has no speech; the model was left out.",
    "model_list[1].litellm_params.vertex_credentials": expect.stringContaining("GOOGLE_APPLICATION_CREDENTIALS"),
    "model_list[2].litellm_params.api_version": expect.stringContaining("Azure's v1 API"),
  });
  expect(modelsOf(imported)[1]?.deployments[0]).toMatchObject({ engine: "openai-compatible" });
  expect(JSON.stringify(modelsOf(imported).map(({ deployments }) => deployments))).not.toContain("literal-key");
});

test("names a prefix that is not a provider's, and reads limits beside the parameters", () => {
  const imported = fromLiteLlm({ model_list: [{ model_name: "m", rpm: 3, litellm_params: { model: "owner/model" } }] });
  expect(reasonsOf(imported)["model_list[0].litellm_params.model"]).toBe(
    "names no known provider; openai was assumed.",
  );
  expect(modelsOf(imported)[0]?.deployments[0]).toEqual(expect.not.objectContaining({ weight: 3 }));
  expect(reasonsOf(imported)["model_list[0].litellm_params.rpm"]).toBe("was left out; limits belong to projects here.");
});

test("weighs deployments by one unit, and names the limits of the others", () => {
  const entry = (limits: object) => ({ model_name: "m", litellm_params: { model: "openai/gpt-5", ...limits } });
  const imported = fromLiteLlm({ model_list: [entry({ rpm: 10, tpm: 5_000 }), entry({ tpm: 100_000 })] });
  expect(modelsOf(imported)[0]?.deployments.map(({ weight }) => weight)).toEqual([10, 0]);
  expect(reasonsOf(imported)).toEqual({
    "model_list[0].litellm_params.rpm": "became the deployment's weight; limits belong to projects here.",
    "model_list[0].litellm_params.tpm": "was left out; limits belong to projects here.",
    "model_list[1].litellm_params.tpm": "was left out; limits belong to projects here.",
    "model_list[1].litellm_params": "has no rpm, which weighs the others: it got the weight 0.",
  });
});

test("carries over the context window, retries and concurrency of an entry, and names the rest", async () => {
  const params = { model: "openai/gpt-5", api_key: "os.environ/KEY", max_retries: 0, max_parallel_requests: 7 };
  const timeouts = { timeout: 30, tags: ["free"], max_budget: 5, budget_duration: "1d" };
  const imported = fromLiteLlm({
    model_list: [
      {
        model_name: "m",
        litellm_params: { ...params, ...timeouts },
        model_info: { max_input_tokens: 8192 },
      },
      { model_name: "m", litellm_params: { ...params, max_retries: 4, timeout: 30, stream_timeout: 5 } },
      { model_name: "v", litellm_params: { model: "text-embedding-3" }, model_info: { max_input_tokens: 512 } },
    ],
    router_settings: { num_retries: 9, model_group_alias: { a: { model: "m", hidden: true } } },
  });
  const [model, vectors] = modelsOf(imported);
  expect(model).toMatchObject({ aliases: ["a"], retries: 0 });
  expect(model?.deployments).toMatchObject([
    { context_window: 8192, max_concurrency: 7, first_byte_timeout_seconds: 30 },
    { max_concurrency: 7, first_byte_timeout_seconds: 5 },
  ]);
  expect(vectors?.deployments[0]).toEqual(expect.not.objectContaining({ context_window: 512 }));
  const reasons = reasonsOf(imported);
  expect(reasons["model_list[0].litellm_params.timeout"]).toContain("became first_byte_timeout_seconds");
  expect(reasons["model_list[1].litellm_params.stream_timeout"]).toContain("became first_byte_timeout_seconds");
  expect(reasons["model_list[1].litellm_params.timeout"]).toContain("was left out");
  expect(reasons["model_list[0].litellm_params.tags"]).toContain("Name a model for each tag");
  expect(reasons["model_list[0].litellm_params.max_budget"]).toContain("not counted here");
  expect(reasons["model_list[1].litellm_params"]).toContain("retries 4 times");
  expect(reasons["model_list[2].model_info.max_input_tokens"]).toContain("no counterpart");
  expect(reasons["model_group_alias.a.hidden"]).toContain("listed with its aliases");
  expect((await load(imported)).models).toHaveLength(2);
});

test("keeps keys in the file apart: each is another variable", () => {
  const entry = (key: string) => ({ model_name: "m", litellm_params: { model: "gpt-4.1", api_key: key } });
  const [model] = modelsOf(fromLiteLlm({ model_list: [entry("one"), entry("two"), entry("one")] }));
  expect(model?.deployments.map((each) => each.api_key)).toEqual([
    ...[ref("OPENAI_API_KEY"), ref("OPENAI_API_KEY_2"), ref("OPENAI_API_KEY")],
  ]);
});

test.each([undefined, null, [], "text", { model_list: "none" }])(
  "converts %j to a configuration without models",
  (source) => {
    expect(modelsOf({ notes: [], config: { models: [], ...fromLiteLlm(source).config } })).toEqual([]);
  },
);

test("converts llama-swap's commands, with macros, to deployments of llama-server", async () => {
  const imported = fromLlamaSwap({
    healthCheckTimeout: 100,
    macros: { server: `/opt/llama-server --port ${ref("PORT")}`, folder: "/models" },
    models: {
      coder: {
        cmd: `${ref("server")} \\\n  -m ${ref("folder")}/coder.gguf --ctx-size 32768 -np 4 -ngl 99 --flash-attn on --alias 'x y'`,
        ttl: 300,
        aliases: ["gpt-4o-mini"],
        unlisted: true,
      },
      vectors: { cmd: "llama-server --embeddings -m /models/bge.gguf" },
      remote: { cmd: "llama-server -hf owner/repo --hf-file model.gguf" },
      vague: { cmd: "llama-server -hf owner/repo:Q4_K_M" },
      vllm: { cmd: "docker run vllm", proxy: "http://127.0.0.1:9000", cmdStop: "docker stop vllm" },
    },
    groups: { all: {} },
  });
  const models = modelsOf(imported);
  expect(models).toEqual([
    {
      ...{ id: "coder", task: "chat", aliases: ["gpt-4o-mini"], hidden: true },
      deployments: [
        {
          ...{ engine: "llama-server", binary: "/opt/llama-server", file: "/models/coder.gguf", context_size: 8192 },
          ...{ slots: 4, gpu_layers: 99, unload_after_seconds: 300, options: ["--flash-attn", "on"] },
        },
      ],
    },
    { id: "vectors", task: "embedding", deployments: [{ engine: "llama-cpp", file: "/models/bge.gguf" }] },
    { id: "remote", task: "chat", deployments: [{ engine: "llama-server", hf: "owner/repo/model.gguf" }] },
  ]);
  expect(reasonsOf(imported)).toMatchObject({
    "models.vague.cmd": expect.stringContaining("names no file of owner/repo"),
    "models.vllm.cmd": expect.stringContaining("engine: openai-compatible"),
    "models.vllm.cmdStop": "has no counterpart.",
    groups: expect.stringContaining("local.memory"),
  });
  expect((await load(imported)).models).toHaveLength(3);
});

test("converts Ollama's models, with their names without the tag", async () => {
  const imported = fromOllama("http://10.0.0.7:11434/", {
    models: [
      { name: "llama3.2:latest", model: "llama3.2:latest", details: { family: "llama" } },
      { name: "nomic-embed-text:v1.5", model: "nomic-embed-text:v1.5", details: { family: "nomic-bert" } },
      { name: "big:cloud", model: "big:cloud", remote_host: "https://ollama.com:443" },
    ],
  });
  expect(modelsOf(imported)).toMatchObject([
    {
      id: "llama3.2:latest",
      task: "chat",
      aliases: ["llama3.2"],
      deployments: [{ base_url: "http://10.0.0.7:11434/v1" }],
    },
    { id: "nomic-embed-text:v1.5", task: "embedding" },
    { id: "big:cloud", task: "chat" },
  ]);
  expect(reasonsOf(imported)).toEqual({ "big:cloud": "runs at https://ollama.com:443, where its prompts are sent." });
  expect((await load(imported)).models).toHaveLength(3);
});
