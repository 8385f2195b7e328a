/** What happens when llama.cpp aborts on a GPU, with a real process in its place. */

import { expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import type { ChatModel } from "../../contracts/chat-model.ts";
import { defineEngine } from "../define-engine.ts";
import { llamaCppEngine } from "./llama-cpp-engine.ts";
import { llamaCppSettings } from "./settings.ts";

const CHILD = new URL("../../../test/support/models/aborting-child.ts", import.meta.url);

async function open(gpu: "auto" | "cuda", path = "model.gguf") {
  const services = makeEngineServices({ pull: async () => ({ path, paths: {} }) });
  const engine = defineEngine({ ...llamaCppEngine, module: CHILD });
  const opening = engine.open(llamaCppSettings.parse({ file: "model.gguf", gpu }), "chat", services);
  return { opening: opening as Promise<ChatModel>, services };
}

test("runs the model on the CPU when the GPU's driver refuses the kernels, with a warning", async () => {
  const { opening, services } = await open("auto");
  const model = await opening;
  expect(model.device).toBe("cpu");
  const { text } = await readAnswer(model.chat(makeChatRequest(), new AbortController().signal));
  expect(text).toBe("threads 1");
  expect(services.logged.join("")).toMatch(
    /cannot use this machine's GPU \(CUDA error: the provided PTX was compiled with an unsupported toolchain\.\)/,
  );
  await model.close();
});

test("runs the model on the CPU when the GPU's memory is taken", async () => {
  const { opening, services } = await open("auto", "full.gguf");
  const model = await opening;
  expect(model.device).toBe("cpu");
  expect(services.logged.join("")).toMatch(/cannot use this machine's GPU \(A context size of 4096 .* too large/);
  await model.close();
  const configured = await open("cuda", "full.gguf");
  await expect(configured.opening).rejects.toMatchObject({ code: "insufficient_memory" });
});

test("fails with the reason where the GPU is configured", async () => {
  const { opening, services } = await open("cuda");
  await expect(opening).rejects.toMatchObject({
    code: "engine_failed",
    message: expect.stringMatching(/SIGABRT.* while it was being opened: CUDA error: the provided PTX/),
  });
  // The first line of the crash is in the log, and the last one.
  expect(services.logged.join("")).toMatch(/CUDA error: the provided PTX[\s\S]*frame 79/);
});
