/** The guardrails that find values in a text: personal data, secrets, injections, words. */

import { findInSlices } from "@parlance-inference/text-privacy/find-in-slices";
import { findInjections } from "@parlance-inference/text-privacy/find-injections";
import { wordFinder } from "@parlance-inference/text-privacy/find-words";
import type { Match } from "@parlance-inference/text-privacy/match";
import { personalDataFinder } from "@parlance-inference/text-privacy/personal-data/find-personal-data";
import { findSecrets, SECRET_SLICES } from "@parlance-inference/text-privacy/secrets/find-secrets";
import type { Guardrail } from "../../contracts/guardrail.ts";
import type { GuardrailServices } from "./guardrail-services.ts";

export interface TextFinder {
  /** Finds in a text of any length; a Promise for a long one, or where another service looks. Throws a Fault. */
  find(text: string, signal: AbortSignal): readonly Match[] | Promise<readonly Match[]>;
  /** Finds in a short text at once; undefined where another service looks. */
  findNow: ((text: string) => readonly Match[]) | undefined;
}

type FindNow = (text: string) => readonly Match[];

/** Policies live as long as the configuration or a cached key; their automata are built once. */
const finders = new WeakMap<Guardrail, FindNow>();

/** Undefined for guardrails that judge a text as a whole. */
export function finderOf(guardrail: Guardrail, services: GuardrailServices): TextFinder | undefined {
  if (guardrail.type === "pii" && guardrail.engine === "presidio") {
    return { findNow: undefined, find: (text, signal) => services.analyze(text, guardrail, signal) };
  }
  const findNow = finders.get(guardrail) ?? createFinder(guardrail);
  if (findNow === undefined) return undefined;
  finders.set(guardrail, findNow);
  const slices = guardrail.type === "secrets" ? SECRET_SLICES : {};
  return { findNow, find: (text, signal) => findInSlices(text, findNow, { ...slices, signal }) };
}

function createFinder({ type, entities, regions, words = [], substring }: Guardrail): FindNow | undefined {
  switch (type) {
    case "pii":
      return personalDataFinder({ entities, regions });
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
