/** Before any test: the real weights of every default model, fetched once. What cannot be had fails the run. */

import { MANIFEST } from "../../src/models/manifest.ts";
import { testModelStore } from "./default-model.ts";

const PATIENCE_MILLISECONDS = 10 * 60_000;

export default async function fetchDefaultModels(): Promise<void> {
  const store = testModelStore();
  const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS);
  const defaults = MANIFEST.filter(({ isDefault }) => isDefault);
  await Promise.all(defaults.map(({ id }) => store.pull({ model: id }, { signal })));
}
