import { expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import type { Task } from "../../contracts/task.ts";
import { llamaCppEngine } from "./llama-cpp-engine.ts";
import { llamaCppSettings } from "./settings.ts";

test("fills in defaults", () => {
  expect(llamaCppSettings.parse({ model: "smollm2-135m-instruct" })).toEqual({
    reference: { model: "smollm2-135m-instruct" },
    contextSize: undefined,
    slots: 4,
    threads: undefined,
    gpu: "auto",
    gpuLayers: undefined,
    flashAttention: "auto",
    batchSize: undefined,
    prefixReuse: true,
    promptCacheBytes: 0,
    maxChoices: 8,
    tokenIds: "cl100k_base",
    lora: [],
    chatTemplateFile: undefined,
  });
});

test.each([
  [{ file: "/models/my.gguf", gpu: false }, { file: "/models/my.gguf" }],
  [{ hf: "owner/repo/sub/file.gguf" }, { hf: "owner/repo/sub/file.gguf" }],
])("accepts %j", (settings, reference) => {
  expect(llamaCppSettings.parse(settings).reference).toEqual(reference);
});

test.each([
  [{}, /exactly one of/],
  [{ model: "a", file: "b" }, /exactly one of/],
  [{ model: "a", slot: 4 }, /Unrecognized key/],
  [{ model: "a", slots: 0 }, /slots/],
  [{ model: "a", gpu: true }, /gpu/],
  [{ model: "a", lora: [{ file: "b", scale: 11 }] }, /scale/],
  [{ hf: "just-a-name" }, /owner\/repository/],
])("rejects %j", (settings, message) => {
  const { error } = llamaCppSettings.safeParse(settings);
  expect(error?.message).toMatch(message);
});

test.each<[object, Task, RegExp]>([
  [{}, "embedding", /works with the task chat/],
  [{ prefix_reuse: false }, "chat", /prefix_reuse/],
  [{}, "chat", /set PARLANCE_ENCRYPTION_KEY/],
])("refuses a prompt cache with %j for the task %s", async (fields, task, message) => {
  const settings = llamaCppSettings.parse({ model: "a", prompt_cache_gb: 1, ...fields });
  const promptCache = () => undefined;
  await expect(llamaCppEngine.prepare?.(settings, task, makeEngineServices({ promptCache }))).rejects.toThrow(message);
});
