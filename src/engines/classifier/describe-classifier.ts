import type { ModelDescription } from "../../contracts/model-description.ts";
import type { Head } from "./head.ts";

export const DEFAULT_THRESHOLD = 0.5;

/** Describes the classifier by its trained part and the configured thresholds. */
export function describeClassifier(
  head: Pick<Head, "categories" | "thresholds">,
  own: Readonly<Record<string, number>>,
) {
  const categories = [...head.categories, "sexual/minors"].sort();
  const set = { ...head.thresholds, ...own };
  return {
    task: "moderation",
    takesImages: false,
    languages: ["en"],
    categories,
    thresholds: Object.fromEntries(categories.map((name) => [name, set[name] ?? DEFAULT_THRESHOLD])),
  } as const satisfies ModelDescription;
}
