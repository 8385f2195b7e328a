/** A model's process that aborts as llama.cpp does on a GPU whose driver refuses its kernels, and works on a CPU. */

import { writeSync } from "node:fs";
import { GpuMemoryError } from "@parlance-inference/llama-batching/errors";
import type { ChatEvent, ChatModel } from "../../../src/contracts/chat-model.ts";
import { toFault } from "../../../src/engines/llama-cpp/to-fault.ts";

const STDERR = 2;

export async function open({ gpu, path }: { gpu: string | false; path: string }): Promise<ChatModel> {
  if (gpu !== false && path === "full.gguf") {
    throw toFault(
      new GpuMemoryError("A context size of 4096 with 4 sequences is too large for the available VRAM", 60),
    );
  }
  if (gpu !== false) {
    writeSync(STDERR, "CUDA error: the provided PTX was compiled with an unsupported toolchain.\n");
    for (let frame = 0; frame < 80; frame++) writeSync(STDERR, `frame ${frame}\n`);
    process.abort();
  }
  return {
    task: "chat",
    usesGrammars: false,
    abilities: {
      tools: false,
      jsonSchema: false,
      logprobs: false,
      vision: false,
      reasoning: false,
      choices: 1,
      completions: false,
      infill: false,
    },
    slots: 1,
    device: "cpu",
    contextWindow: 100,
    health: () => ({ state: "up" }),
    close: async () => {},
    async *chat(): AsyncGenerator<ChatEvent> {
      const usage = { promptTokens: 1, completionTokens: 1, cachedTokens: 0, reasoningTokens: 0, estimated: false };
      const text = `threads ${process.env.UV_THREADPOOL_SIZE}`;
      yield { type: "start", promptTokens: 1, cachedTokens: 0 };
      yield { type: "text", choice: 0, text, completionTokens: 1 };
      yield { type: "choice-end", choice: 0, reason: "stop" };
      yield { type: "finish", usage };
    },
  } as ChatModel;
}
