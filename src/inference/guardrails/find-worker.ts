/** Runs in a worker thread: searches the texts of large requests, which would block the event loop. */

import type { Guardrail } from "../../contracts/guardrail.ts";
import { growingCache } from "../../kernel/growing-cache.ts";
import { lowerPriority } from "../../kernel/process/lower-priority.ts";
import type { ChannelText } from "./channels.ts";
import { createLocalFinder, type LocalFinder } from "./local-finder.ts";
import { type Located, locate } from "./locate.ts";
import { findSplitAddresses, type SplitAddress } from "./split-addresses.ts";

export interface FindTask {
  guardrail: Guardrail;
  inputs: readonly ChannelText[];
  search: "values" | "split addresses";
}

/** Finders with lists of words are large. */
const MAX_FINDERS = 20;

lowerPriority();
const finders = growingCache<LocalFinder>(MAX_FINDERS);

export default async function runTask({ guardrail, inputs, search }: FindTask): Promise<Located | SplitAddress[]> {
  const key = JSON.stringify(guardrail);
  const finder = finders.get(key) ?? createLocalFinder(guardrail);
  if (finder === undefined) throw new Error(`the guardrail ${guardrail.type} finds no values`);
  finders.set(key, finder);
  return search === "values" ? locate(inputs, finder.find) : findSplitAddresses(inputs, finder.findNow);
}
