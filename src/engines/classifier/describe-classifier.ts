import type { ModelDescription } from "../../contracts/model-description.ts";
import type { Head } from "./head.ts";

export const DEFAULT_THRESHOLD = 0.5;

export const LANGUAGES = ["en"];

/** Describes the classifier by its trained part and the configured thresholds. */
export function describeClassifier(
  head: Pick<Head, "categories">,
  takesImages: boolean,
  overrides: Readonly<Record<string, number>>,
) {
  const categories = [...head.categories, "sexual/minors"].sort();
  return {
    task: "moderation",
    takesImages,
    languages: LANGUAGES,
    categories,
    thresholds: Object.fromEntries(categories.map((name) => [name, overrides[name] ?? DEFAULT_THRESHOLD])),
  } as const satisfies ModelDescription;
}
