import { stat } from "node:fs/promises";
import { estimateBytesPerToken } from "../context-memory.ts";
import { type LoadedModel, type LoadOptions, scalesWithContext } from "../load-model.ts";
import { StoredStates, type StoredStatesOptions } from "./stored-states.ts";

type OpenOptions = Omit<StoredStatesOptions, "fingerprint" | "bytesPerToken">;

/** Opens the directory with states of a model that was loaded with `load`. */
export async function openStoredStates(
  options: OpenOptions,
  load: Pick<LoadOptions, "path" | "lora">,
  { model, context, device, splitsKeys }: Pick<LoadedModel, "model" | "context" | "device" | "splitsKeys">,
): Promise<StoredStates> {
  const { llamaCppRelease } = model.llama;
  const files = [{ path: load.path, scale: 1 }, ...load.lora].map(async ({ path, scale }) => {
    const { size, mtimeMs } = await stat(path);
    return [path, scale, size, mtimeMs];
  });
  const contextSize = scalesWithContext(model) ? context.contextSize : undefined;
  const evaluation = { device, gpuLayers: model.gpuLayers, splitsKeys, contextSize };
  const fingerprint = JSON.stringify([llamaCppRelease, await Promise.all(files), evaluation]);
  const states = new StoredStates({ ...options, fingerprint, bytesPerToken: await estimateBytesPerToken(load.path) });
  await states.sweep();
  return states;
}
