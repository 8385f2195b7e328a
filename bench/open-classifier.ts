import { Classifier } from "../src/engines/classifier/classifier.ts";
import { createLogger } from "../src/kernel/logger.ts";
import { createModelStore } from "../src/model-store/create-model-store.ts";

/** Opens the default moderation model, whose files it downloads if they are missing. */
export async function openClassifier(): Promise<Classifier> {
  const store = createModelStore(
    {
      modelsDirectory: process.env.PARLANCE_MODELS_DIR ?? ".parlance/models",
      hub: { endpoint: "https://huggingface.co", token: undefined, offline: false },
    },
    createLogger("silent"),
  );
  const { paths } = await store.pull({ model: "moderation-minilm" }, { signal: new AbortController().signal });
  const files = {
    weights: paths["model.safetensors"] ?? "",
    tokenizer: paths["tokenizer.json"] ?? "",
    tokenizerConfig: paths["tokenizer_config.json"] ?? "",

    foreign: undefined,
    images: undefined,
  };
  return Classifier.open({ files, thresholds: {}, threads: undefined, maxCharacters: 10_000_000 });
}
