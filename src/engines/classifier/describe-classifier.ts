import type { ModelDescription } from "../../contracts/model-description.ts";
import { readForeignHead } from "./foreign-head.ts";
import type { Head } from "./head.ts";

export const DEFAULT_THRESHOLD = 0.5;

/** English, and those of the multilingual encoder. */
export async function languagesOf(hasForeignScorer: boolean): Promise<readonly string[]> {
  return hasForeignScorer ? ["en", ...(await readForeignHead()).languages] : ["en"];
}

/** Describes the classifier by its trained part and the configured thresholds. */
export function describeClassifier(
  head: Pick<Head, "categories">,
  { languages, takesImages }: { languages: readonly string[]; takesImages: boolean },
  overrides: Readonly<Record<string, number>>,
) {
  const categories = [...head.categories, "sexual/minors"].sort();
  return {
    task: "moderation",
    takesImages,
    languages,
    categories,
    thresholds: Object.fromEntries(categories.map((name) => [name, overrides[name] ?? DEFAULT_THRESHOLD])),
  } as const satisfies ModelDescription;
}
