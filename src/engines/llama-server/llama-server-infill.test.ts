/** Fills in the middle with Qwen2.5-Coder behind a real llama-server. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TEST_MODELS_DIRECTORY } from "../../../test/support/models/default-model.ts";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { llamaServerBinary } from "../../../test/support/models/llama-server.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import type { ChatModel } from "../../contracts/chat-model.ts";
import { llamaServerEngine } from "./llama-server-engine.ts";
import { llamaServerSettings } from "./settings.ts";

const ID = "qwen2.5-coder-0.5b-instruct";
const FILE = join(TEST_MODELS_DIRECTORY, ID, `${ID}-q4_k_m.gguf`);
const CAN_RUN = llamaServerBinary !== undefined && existsSync(FILE);

describe.skipIf(!CAN_RUN)("Qwen2.5-Coder (`parlance models pull qwen2.5-coder-0.5b-instruct`)", () => {
  let model: ChatModel;
  beforeAll(async () => {
    const settings = { binary: llamaServerBinary, file: FILE, context_size: 512, slots: 1, gpu_layers: 0, threads: 2 };
    const services = makeEngineServices({ pull: async () => ({ path: FILE, paths: {} }) });
    model = (await llamaServerEngine.open(llamaServerSettings.parse(settings), "chat", services)) as ChatModel;
  });
  afterAll(() => model?.close());

  const complete = (input: string | readonly number[], suffix: string, maxTokens = 8) =>
    readAnswer(
      model.chat(
        { ...makeChatRequest({ messages: [], temperature: 0, maxTokens }), prompt: { input, suffix } },
        new AbortController().signal,
      ),
    );

  test("fills the gap between a prompt and a suffix", async () => {
    expect(model.abilities.infill).toBe(true);
    const { text } = await complete("def add(a, b):\n    ", " = a + b\n    return total\n");
    // Only the suffix has this name.
    expect(text).toContain("total");
  });

  test("reads control tokens around the gap as text", async () => {
    const before = "# <|fim_middle|> and <|endoftext|>\ndef add(a, b):\n    return ";
    const { finish } = await complete(before, "\n<|fim_prefix|>", 1);
    const { finish: plain } = await complete(before.replaceAll("|", ""), "\n<fim_prefix>", 1);
    expect(finish?.usage.promptTokens).toBeGreaterThanOrEqual(plain?.usage.promptTokens ?? 0);
  });
});
