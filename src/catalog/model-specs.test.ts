import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfigText } from "../../test/support/service/load-config-text.ts";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { configSources } from "../cli/config-sources.ts";
import { loadConfig } from "../config/load-config.ts";
import { ENGINES } from "../engines/registry.ts";
import { createLogger } from "../kernel/logger.ts";
import { createModelStore } from "../model-store/create-model-store.ts";
import { MANIFEST } from "../model-store/manifest/manifest.ts";
import type { ModelStore } from "../model-store/model-store.ts";
import { buildModelSpecs } from "./model-specs.ts";

async function specify(yaml: string) {
  await using folder = await temporaryDirectory();
  const hub = { endpoint: "https://huggingface.co", token: undefined, offline: true };
  const store = createModelStore({ modelsDirectory: folder.path, hub }, createLogger("silent"));
  const models = await buildModelSpecs((await loadConfigText(yaml)).config, store);
  return new Map(models.map((model) => [model.id, model]));
}

test("has a default model for each task and a fallback voice after installation", async () => {
  const models = await specify("");
  expect([...models.values()].map(({ task }) => task)).toEqual([
    "chat",
    "moderation",
    "speech",
    "transcription",
    "embedding",
    "speech",
  ]);
  expect(models.get("hibari")?.fallbacks).toEqual(["flite"]);
  expect(models.get("flite")).toMatchObject({ task: "speech", isBuiltin: true, fallbacks: [] });
});

test("takes a built-in model's recommended parameters for a configured model that runs only it", async () => {
  const local = "{ engine: llama-cpp, model: smollm2-135m-instruct }";
  const upstream = "{ engine: openai-compatible, base_url: http://127.0.0.1:1 }";
  const yaml = `models:
  - { id: own, task: chat, deployments: [${local}, ${local}] }
  - { id: set, task: chat, defaults: { temperature: 0.5 }, deployments: [${local}] }
  - { id: mixed, task: chat, deployments: [${upstream}, ${local}] }
`;
  await using folder = await temporaryDirectory();
  await writeFile(join(folder.path, "parlance.yaml"), yaml);
  // With the real engines, whose settings are transformed.
  const config = await loadConfig({ ...configSources(), environment: {}, workingDirectory: folder.path });
  const store = createModelStore(config, createLogger("silent"));
  const models = new Map((await buildModelSpecs(config, store)).map((model) => [model.id, model]));
  const recommended = MANIFEST.find(({ id }) => id === "smollm2-135m-instruct")?.defaults;
  expect(models.get("own")?.defaults).toEqual(recommended);
  expect(models.get("set")?.defaults).toEqual({ ...recommended, temperature: 0.5 });
  expect(models.get("mixed")?.defaults).toEqual({});
});

/** A store in `folder` with records of these models, whose files nobody opens. */
async function storeWith(folder: string, task: string, ids: readonly string[]): Promise<ModelStore> {
  const file = { name: "weights", bytes: 1, sha256: "0".repeat(64), source: "pypi" };
  for (const id of ids) {
    const record = { id, task, pulledAt: new Date().toISOString(), files: [file] };
    await mkdir(join(folder, id));
    await writeFile(join(folder, id, "parlance-model.json"), JSON.stringify(record));
  }
  const hub = { endpoint: "https://huggingface.co", token: undefined, offline: true };
  return createModelStore({ modelsDirectory: folder, hub }, createLogger("silent"));
}

test("lists the pulled default chat model first, as the configuration says", async () => {
  await using folder = await temporaryDirectory();
  const ids = ["qwen2.5-coder-0.5b-instruct", "qwen2.5-coder-1.5b-instruct", "qwen3-4b"];
  const store = await storeWith(folder.path, "chat", ids);
  const { config } = await loadConfigText("");
  expect((await buildModelSpecs(config, store))[0]?.id).toBe("qwen2.5-coder-1.5b-instruct");
  const chosen = { ...config, local: { ...config.local, defaultChatModel: "qwen3-4b" } };
  expect((await buildModelSpecs(chosen, store))[0]?.id).toBe("qwen3-4b");
});

test("keeps OpenAI's names with the default model of a task when another is pulled", async () => {
  await using folder = await temporaryDirectory();
  const store = await storeWith(folder.path, "embedding", ["multilingual-e5-small"]);
  const { config } = await loadConfigText("");
  const embedding = (await buildModelSpecs(config, store)).filter(({ task }) => task === "embedding");
  expect(embedding.map(({ id, aliases }) => [id, aliases.includes("text-embedding-3-small")])).toEqual([
    ["all-minilm-l6-v2", true],
    ["multilingual-e5-small", false],
  ]);
});

test("gives the default models OpenAI's names as aliases, unless the configuration uses them", async () => {
  const deployment = "{ engine: openai-compatible, base_url: http://127.0.0.1:1 }";
  const models = await specify(
    `models: [{ id: tts-1, task: speech, deployments: [${deployment}] }, { id: own, task: moderation, aliases: [omni-moderation-latest], deployments: [${deployment}] }]`,
  );
  expect(models.get("hibari")?.aliases).toEqual(["tts-1-hd", "gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-12-15"]);
  expect(models.get("flite")?.aliases).toEqual([]);
  expect(models.get("moderation-omni")?.aliases).toEqual([
    "omni-moderation-2024-09-26",
    "text-moderation-latest",
    "text-moderation-stable",
  ]);
  expect(models.get("own")?.aliases).toEqual(["omni-moderation-latest"]);
  expect(models.get("all-minilm-l6-v2")?.aliases).toEqual([
    "text-embedding-3-small",
    "text-embedding-3-large",
    "text-embedding-ada-002",
    "gemini-embedding-*",
  ]);
});

test.each([
  ["built in", "", "smollm2-135m-instruct"],
  [
    "configured",
    "builtin_models: false\nmodels: [{ id: own, task: chat, deployments: [{ engine: openai-compatible, base_url: http://127.0.0.1:1 }] }]",
    "own",
  ],
])("gives the first chat model, %s, every name of Claude, Gemini and Realtime models", async (_which, yaml, id) => {
  expect((await specify(yaml)).get(id)?.aliases).toEqual([
    "claude-*",
    "gemini-*",
    "gpt-realtime*",
    "gpt-4o-realtime-*",
    "gpt-4o-mini-realtime-*",
    "gpt-audio-*",
  ]);
});

test("leaves out a default alias that a configured prefix covers", async () => {
  const deployments = "deployments: [{ engine: openai-compatible, base_url: http://127.0.0.1:1 }]";
  const models = await specify(
    `builtin_models: false\nmodels: [{ id: one, task: chat, ${deployments} }, { id: two, task: chat, aliases: ["cla*"], ${deployments} }]`,
  );
  const { aliases = [] } = models.get("one") ?? {};
  expect(aliases).toContain("gpt-realtime*");
  expect(aliases).not.toContain("claude-*");
});

test("adds no OpenAI names when the configuration disables them", async () => {
  const models = await specify("default_aliases: false");
  expect([...models.values()].flatMap(({ aliases }) => aliases)).toEqual([]);
});

test("replaces a built-in model by a configured one of the same id, which is then not a fallback", async () => {
  const deployment = "{ engine: openai-compatible, base_url: http://127.0.0.1:1 }";
  const models = await specify(`models: [{ id: flite, task: chat, deployments: [${deployment}] }]`);
  expect(models.get("flite")).toMatchObject({ task: "chat", isBuiltin: false });
  expect(models.get("hibari")?.fallbacks).toEqual([]);
});

test.each(MANIFEST.filter(({ guardFamily }) => guardFamily !== undefined))(
  "runs the pulled model $id as a guard on a chat engine",
  async (entry) => {
    await using folder = await temporaryDirectory();
    const hub = { endpoint: "https://huggingface.co", token: undefined, offline: true };
    const store = createModelStore({ modelsDirectory: folder.path, hub }, createLogger("silent"));
    const { config } = await loadConfigText("");
    const pulled = { ...store, list: async () => [{ id: entry.id }] } as unknown as typeof store;
    const model = (await buildModelSpecs(config, pulled)).find(({ id }) => id === entry.id);
    expect(model).toMatchObject({ task: "moderation", isBuiltin: true, deployments: [{ engine: "guard" }] });
    const settings = model?.deployments[0]?.settings as { family: string; chat: { reveal(): string } };
    expect(settings.family).toBe(entry.guardFamily);
    const { engine, ...chat } = JSON.parse(settings.chat.reveal());
    expect(ENGINES["llama-cpp"].settings.safeParse(chat).success && engine).toBe("llama-cpp");
  },
);

test("contains only configured models when built-in models are disabled", async () => {
  expect((await specify("builtin_models: false")).size).toBe(0);
});

const SMALL_MACHINE = { cores: 2, budgetBytes: 16e9 };

test("adds the moderation cascade once its chat model is pulled, or the configuration names it", async () => {
  const { config } = await loadConfigText("");
  const idsWith = async (...pulled: string[]) => {
    const store = { list: async () => pulled.map((id) => ({ id })) } as unknown as ModelStore;
    const specs = await buildModelSpecs(config, store, SMALL_MACHINE);
    return specs.filter(({ task }) => task === "moderation").map(({ id }) => id);
  };
  expect(await idsWith()).toEqual(["moderation-omni"]);
  expect(await idsWith("qwen2.5-coder-1.5b-instruct")).toEqual(["moderation-omni", "moderation-qwen"]);
});

test("gives OpenAI's names to the cascade and to the natural voice on machines that carry them", async () => {
  const { config } = await loadConfigText("");
  const pulled = ["qwen2.5-coder-1.5b-instruct", "kokoro-82m"];
  const store = { list: async () => pulled.map((id) => ({ id })) } as unknown as ModelStore;
  const namedOn = async (cores: number) => {
    const specs = await buildModelSpecs(config, store, { cores, budgetBytes: 6e9 });
    const named = (alias: string) => specs.find(({ aliases }) => aliases.includes(alias))?.id;
    return [specs[0]?.id, named("omni-moderation-latest"), named("tts-1")];
  };
  expect(await namedOn(2)).toEqual(["qwen2.5-coder-1.5b-instruct", "moderation-omni", "hibari"]);
  expect(await namedOn(4)).toEqual(["qwen2.5-coder-1.5b-instruct", "moderation-qwen", "kokoro-82m"]);
});

test("gives OpenAI's moderation names to moderation-omni, for which its English part answers once it is pulled", async () => {
  const { config } = await loadConfigText("");
  const modelsWith = async (...pulled: string[]) => {
    const store = { list: async () => pulled.map((id) => ({ id })) } as unknown as ModelStore;
    const models = (await buildModelSpecs(config, store)).filter(({ task }) => task === "moderation");
    return models.map(({ id, aliases, fallbacks }) => [id, aliases, fallbacks]);
  };
  const names = [
    "omni-moderation-latest",
    "omni-moderation-2024-09-26",
    "text-moderation-latest",
    "text-moderation-stable",
  ];
  expect(await modelsWith()).toEqual([["moderation-omni", names, []]]);
  expect(await modelsWith("moderation-minilm")).toEqual([
    ["moderation-omni", names, ["moderation-minilm"]],
    ["moderation-minilm", [], []],
  ]);
});

test("loads the moderation cascade on demand, also where other models are loaded at the start", async () => {
  const { config } = await loadConfigText("local: { load: start }");
  const store = { list: async () => [{ id: "qwen2.5-coder-1.5b-instruct" }] } as unknown as ModelStore;
  const loads = new Map(
    (await buildModelSpecs(config, store)).map(({ id, deployments: [deployment] }) => [id, deployment]),
  );
  expect(loads.get("moderation-omni")?.routingOptions.load).toBe("start");
  expect(loads.get("moderation-qwen")).toMatchObject({ engine: "cascade", routingOptions: { load: "on_demand" } });
});
