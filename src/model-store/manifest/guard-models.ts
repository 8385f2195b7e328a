/** Guard language models: a new one of a known family is an entry here. Downloaded only on request. */

import type { ManifestEntry } from "./manifest-entry.ts";

interface GuardModel {
  id: string;
  /** A family of the engine `guard`, which determines the prompt and the categories. */
  family: string;
  license: string;
  description: string;
  languages?: string;
  contextWindow: number;
  /** A GGUF file on the hub, which states its size and hash. */
  repository: string;
  file: string;
}

const GUARDS: readonly GuardModel[] = [
  {
    id: "llama-guard-3-1b",
    family: "llama-guard-3",
    license: "Llama 3.2 Community License",
    description: "Experimental. Small: scores 13 MLCommons hazards",
    languages: "8 languages",
    contextWindow: 131_072,
    repository: "QuantFactory/Llama-Guard-3-1B-GGUF",
    file: "Llama-Guard-3-1B.Q4_K_M.gguf",
  },
  {
    id: "llama-guard-3-8b",
    family: "llama-guard-3",
    license: "Llama 3.1 Community License",
    description: "Experimental. Large (4.9 GB): scores 14 MLCommons hazards, in eight languages",
    languages: "8 languages",
    contextWindow: 131_072,
    repository: "mradermacher/Llama-Guard-3-8B-GGUF",
    file: "Llama-Guard-3-8B.Q4_K_M.gguf",
  },
  {
    id: "llama-guard-4-12b",
    family: "llama-guard-4",
    license: "Llama 4 Community License",
    description: "Experimental. Very large (22 GB): scores 14 MLCommons hazards; text only",
    contextWindow: 131_072,
    repository: "DevQuasar/meta-llama.Llama-Guard-4-12B-GGUF",
    file: "meta-llama.Llama-Guard-4-12B.f16.gguf",
  },
  {
    id: "qwen3guard-gen-0.6b",
    family: "qwen3guard-gen",
    license: "Apache-2.0",
    description: "Experimental. Small (0.8 GB): safe, controversial or unsafe, in 119 languages",
    languages: "119 languages",
    contextWindow: 32_768,
    repository: "QuantFactory/Qwen3Guard-Gen-0.6B-GGUF",
    file: "Qwen3Guard-Gen-0.6B.Q8_0.gguf",
  },
  {
    id: "qwen3guard-gen-4b",
    family: "qwen3guard-gen",
    license: "Apache-2.0",
    description: "Experimental. Medium (2.7 GB): safe, controversial or unsafe, in 119 languages",
    languages: "119 languages",
    contextWindow: 32_768,
    repository: "mradermacher/Qwen3Guard-Gen-4B-GGUF",
    file: "Qwen3Guard-Gen-4B.Q4_K_M.gguf",
  },
  {
    id: "shieldgemma-2b",
    family: "shieldgemma",
    license: "Gemma Terms of Use",
    description: "Experimental. Medium (1.7 GB): one question for each of four policies",
    contextWindow: 8192,
    repository: "QuantFactory/shieldgemma-2b-GGUF",
    file: "shieldgemma-2b.Q4_K_M.gguf",
  },
  {
    id: "gpt-oss-safeguard-20b",
    family: "gpt-oss-safeguard",
    license: "Apache-2.0",
    description: "Experimental. Very large: reasons about a written policy, all 13 categories",
    contextWindow: 131_072,
    repository: "unsloth/gpt-oss-safeguard-20b-GGUF",
    file: "gpt-oss-safeguard-20b-Q4_K_M.gguf",
  },
];

export const GUARD_MODELS: readonly ManifestEntry[] = GUARDS.map(({ family, repository, file, ...entry }) => ({
  ...entry,
  task: "moderation",
  engine: "llama-cpp",
  guardFamily: family,
  isDefault: false,
  files: [{ name: file, sources: [{ source: "hugging-face", repository, revision: "main", path: file }] }],
}));
