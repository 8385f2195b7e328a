import type { ModelDescription } from "../../contracts/model-description.ts";
import type { GuardFormat } from "./guard-format.ts";

/** Score from which a category without a configured threshold is flagged. */
export const FLAGGED_FROM = 0.5;

/** Describes a guard by its family, before its chat model is loaded. */
export function describeGuard({ categories }: GuardFormat, thresholds: Readonly<Record<string, number>>) {
  return {
    task: "moderation",
    takesImages: false,
    languages: undefined,
    categories,
    thresholds: Object.fromEntries(categories.map((category) => [category, thresholds[category] ?? FLAGGED_FROM])),
  } as const satisfies ModelDescription;
}
