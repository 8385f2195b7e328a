import { getLlama, LlamaLogLevel, type LlamaModel } from "node-llama-cpp";
import { inject } from "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** Absolute path of a small GGUF chat model, provided by the global setup. */
    chatModelPath: string;
  }
}

/** The small chat model; `vocabOnly`: its tokenizer, without weights. */
export async function loadChatModel({ vocabOnly = false } = {}): Promise<LlamaModel> {
  const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: LlamaLogLevel.error });
  return await llama.loadModel({ modelPath: inject("chatModelPath"), vocabOnly });
}
