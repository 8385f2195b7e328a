import { WhisperModel } from "@parlance-inference/whisper-onnx/whisper-model";
import type { ModelStore } from "../src/model-store/model-store.ts";

/** Loads whisper-base, which transcribes what a voice says; downloads it the first time. */
export async function loadWhisper(store: ModelStore, signal: AbortSignal): Promise<WhisperModel> {
  const { paths } = await store.pull({ model: "whisper-base" }, { signal });
  const path = (name: string) => paths[name] ?? "";
  return WhisperModel.load({
    weights: path("model.bin"),
    tokenizer: path("tokenizer.json"),
    config: path("config.json"),
    vad: path("vad.onnx"),
  });
}
