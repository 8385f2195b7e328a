/** The guardrails that find values in a text by patterns, in this thread. */

import { findInSlices, type SliceOptions } from "@parlance-inference/text-privacy/find-in-slices";
import { findInjections } from "@parlance-inference/text-privacy/find-injections";
import { wordFinder } from "@parlance-inference/text-privacy/find-words";
import type { Match } from "@parlance-inference/text-privacy/match";
import { personalDataFinder } from "@parlance-inference/text-privacy/personal-data/find-personal-data";
import { findSecrets, SECRET_SLICES } from "@parlance-inference/text-privacy/secrets/find-secrets";
import type { Guardrail } from "../../contracts/guardrail.ts";

export interface LocalFinder {
  /** Finds in a short text. */
  findNow(text: string): readonly Match[];
  /** Finds in a text of any length, in turns. */
  find(text: string, signal?: AbortSignal): readonly Match[] | Promise<readonly Match[]>;
}

/** Undefined for guardrails that judge a text as a whole, and for those of other services. */
export function createLocalFinder(guardrail: Guardrail): LocalFinder | undefined {
  const findNow = createFind(guardrail);
  if (findNow === undefined) return undefined;
  const slices: SliceOptions = guardrail.type === "secrets" ? SECRET_SLICES : {};
  return { findNow, find: (text, signal) => findInSlices(text, findNow, { ...slices, signal }) };
}

function createFind(guardrail: Guardrail): LocalFinder["findNow"] | undefined {
  const { type, engine, entities, regions, words = [], substring } = guardrail;
  switch (type) {
    case "pii":
      return engine === "presidio" ? undefined : personalDataFinder({ entities, regions });
    case "secrets":
      return findSecrets;
    case "prompt_injection":
      return findInjections;
    case "words":
      return wordFinder(words, substring);
    default:
      return undefined;
  }
}
