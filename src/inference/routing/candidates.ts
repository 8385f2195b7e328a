/** The models that a request may be answered by: its own, and the fallbacks. */

import type { ResolvedModel } from "../../catalog/catalog.ts";
import type { Caller } from "../../contracts/caller.ts";

/** Returns the window of each chat deployment; undefined where it is not known. */
export function contextWindowsOf(candidates: readonly ResolvedModel[]): (number | undefined)[] {
  return candidates.flatMap(({ model }) =>
    model.deployments.map(({ lastModel }) => (lastModel?.task === "chat" ? lastModel.contextWindow : undefined)),
  );
}

/** Returns the candidate with the price that this caller's requests have. */
export function withPriceFor({ priority }: Caller, candidate: ResolvedModel): ResolvedModel {
  const { batchPrice } = candidate.model;
  if (priority !== "batch" || batchPrice === undefined) return candidate;
  return { ...candidate, model: { ...candidate.model, price: batchPrice } };
}
