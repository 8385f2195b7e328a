import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { openShallowLlamaCpp } from "../../../test/support/models/llama-cpp.ts";
import { makeLoraAdapter } from "../../../test/support/models/lora-adapter.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import { llamaCppEngine } from "./llama-cpp-engine.ts";
import { llamaCppSettings } from "./settings.ts";

const test = oncePerState(import.meta.filename);

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let adapter: string;
beforeAll(async () => {
  folder = await temporaryDirectory();
  adapter = join(folder.path, "adapter.gguf");
  await writeFile(adapter, makeLoraAdapter("llama", 576));
});
afterAll(() => folder[Symbol.asyncDispose]());

async function textWith(lora: object[]): Promise<string> {
  const model = await openShallowLlamaCpp({ lora });
  try {
    const request = makeChatRequest({
      messages: [{ role: "user", content: "Say hello." }],
      maxTokens: 12,
      temperature: 0,
    });
    return (await readAnswer(model.chat(request, new AbortController().signal))).text;
  } finally {
    await model.close();
  }
}

test("applies adapters by their scale", async () => {
  const plain = await textWith([]);
  expect(await textWith([{ file: adapter, scale: 0 }])).toBe(plain);
  expect(await textWith([{ file: adapter, scale: 4 }])).not.toBe(plain);
});

test("names an adapter that is missing, and rejects one of another model", async () => {
  await expect(openShallowLlamaCpp({ lora: [{ file: "/nowhere/a.gguf" }] })).rejects.toMatchObject({
    code: "engine_failed",
    message: expect.stringContaining(
      "LoRA adapter cannot be read: ENOENT: no such file or directory, access '/nowhere/a.gguf'",
    ),
  });
  const other = join(folder.path, "other.gguf");
  await writeFile(other, makeLoraAdapter("llama", 64));
  await expect(openShallowLlamaCpp({ lora: [{ file: other }] })).rejects.toMatchObject({ code: "engine_failed" });
});

test("refuses adapters for the task embedding", async () => {
  const settings = llamaCppSettings.parse({ file: "/a.gguf", lora: [{ file: adapter }] });
  await expect(llamaCppEngine.open(settings, "embedding", makeEngineServices())).rejects.toMatchObject({
    param: "lora",
  });
});
