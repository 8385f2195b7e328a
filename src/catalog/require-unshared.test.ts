import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { configSources } from "../cli/config-sources.ts";
import { loadConfig } from "../config/load-config.ts";
import { createLogger } from "../kernel/logger.ts";
import { createModelStore } from "../model-store/create-model-store.ts";
import { requireUnshared } from "./require-unshared.ts";

const SMALL = "smollm2-135m-instruct";
const CODER = "qwen2.5-coder-1.5b-instruct";
const ON_HUB = "hf:owner/repo/small.gguf";
const PLACE = "hf/owner/repo/small/small.gguf";
const LLAMA_GUARD = "{ engine: guard, family: llama-guard-3, chat: { engine: llama-cpp, hf: owner/repo/small.gguf } }";
const ALONE = "builtin_models: false";

/** Removes a model from a store with records of `stored`, whose files nobody opens. */
async function remove(id: string, yaml: string, stored: readonly string[] = [id]): Promise<void> {
  await using folder = await temporaryDirectory();
  const models = join(folder.path, "models");
  for (const each of stored) {
    const path = join(models, each === ON_HUB ? PLACE : `${each}/weights`);
    const file = { name: "weights", bytes: 1, sha256: "0".repeat(64), source: "pypi" };
    const record = { id: each, pulledAt: new Date().toISOString(), files: [file] };
    await mkdir(dirname(path), { recursive: true });
    await writeFile(join(dirname(path), "parlance-model.json"), JSON.stringify(record));
  }
  await writeFile(join(folder.path, "parlance.yaml"), yaml.replaceAll("MODELS", models));
  const environment = { PARLANCE_MODELS_DIR: models };
  const config = await loadConfig({ ...configSources(), environment, workingDirectory: folder.path });
  await requireUnshared(id, config, createModelStore(config, createLogger("silent")));
}

const configured = (task: string, deployment: string, id = "own") =>
  `${ALONE}\nmodels: [{ id: ${id}, task: ${task}, deployments: [${deployment}] }]`;

test.each([
  ["its ID", SMALL, "chat", `{ engine: llama-cpp, model: ${SMALL} }`],
  ["its place on the hub", ON_HUB, "chat", "{ engine: llama-cpp, hf: owner/repo/small.gguf }"],
  ["the path of its file", ON_HUB, "chat", `{ engine: llama-cpp, file: MODELS/${PLACE} }`],
  ["a deployment within another one", ON_HUB, "moderation", LLAMA_GUARD],
  ["a model that is based on it", "kokoro-82m", "speech", "{ engine: kokoro, model: kokoro-82m-japanese }"],
])("refuses files that a configured model names by %s", async (_how, id, task, deployment) => {
  await expect(remove(id, configured(task, deployment))).rejects.toMatchObject({
    kind: "conflict",
    code: "model_in_use",
    message: `The files of \`${id}\` are also used by \`own\`. Take it out of the configuration first.`,
  });
});

test("refuses files of a model on which a pulled one is based, or that a built-in one runs", async () => {
  await expect(remove("kokoro-82m", ALONE, ["kokoro-82m", "kokoro-82m-japanese"])).rejects.toMatchObject({
    message: "The files of `kokoro-82m` are also used by `kokoro-82m-japanese`. Remove it first.",
  });
  await expect(remove("moderation-minilm", "")).rejects.toMatchObject({
    message: expect.stringMatching(/are also used by `moderation-omni`. .*`builtin_models: false`/),
  });
});

test.each([
  ["that nobody else uses", ON_HUB, ALONE],
  ["of the configured model itself", SMALL, configured("chat", `{ engine: llama-cpp, model: ${SMALL} }`, SMALL)],
  ["whose name is also that of an upstream's model", SMALL, upstream(SMALL)],
  ["with a bundled model that is there because of them", CODER, ""],
])("allows to remove files %s", async (_which, id, yaml) => {
  await expect(remove(id, yaml)).resolves.toBeUndefined();
});

function upstream(model: string): string {
  return configured("chat", `{ engine: openai-compatible, base_url: "http://127.0.0.1:9/v1", model: ${model} }`);
}

test("names the model whose files a bundled one runs, which stay while the configuration names that", async () => {
  await expect(remove("moderation-qwen", "", [CODER])).rejects.toMatchObject({
    kind: "conflict",
    message: `\`moderation-qwen\` runs the files of \`${CODER}\`. Remove that one instead.`,
  });
  const named = "models: [{ id: moderation-qwen, task: moderation, access_groups: [team] }]";
  await expect(remove(CODER, named)).rejects.toMatchObject({
    message: expect.stringMatching(/`moderation-qwen`. Take it out of the configuration first/),
  });
  await expect(remove("moderation-omni", "", ["moderation-omni", CODER])).rejects.toMatchObject({
    message: expect.stringMatching(new RegExp(`by \`moderation-qwen\`. It is there because of \`${CODER}\``)),
  });
});
