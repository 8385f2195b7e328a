import type { Inference } from "../../inference/inference.ts";

const LATEST = ":latest";

/** Removes the tag that Ollama's clients add to names without one, unless a model has it. */
export function withoutLatest({ models }: Inference, name: string): string {
  return name.endsWith(LATEST) && models.idOf(name) === undefined ? name.slice(0, -LATEST.length) : name;
}
