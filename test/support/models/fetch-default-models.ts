/** Downloads the weights of every default model once, before any test. A failed download fails the run. */

import type { TestProject } from "vitest/node";
import { MANIFEST } from "../../../src/model-store/manifest/manifest.ts";
import { defaultChatModelPath, testModelStore } from "./default-model.ts";

const PATIENCE_MS = 10 * 60_000;

export default async function fetchDefaultModels({ provide }: TestProject): Promise<void> {
  const store = testModelStore();
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const defaults = MANIFEST.filter(({ isDefault }) => isDefault);
  await Promise.all(defaults.map(({ id }) => store.pull({ model: id }, { signal })));
  provide("chatModelPath", await defaultChatModelPath());
}
