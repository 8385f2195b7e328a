/** The guardrails that find values in a text: personal data, secrets, injections, words. */

import { findInSlices } from "@parlance-inference/text-privacy/find-in-slices";
import { findInjections } from "@parlance-inference/text-privacy/find-injections";
import { wordFinder } from "@parlance-inference/text-privacy/find-words";
import type { WordSpan } from "@parlance-inference/text-privacy/masking-transform";
import type { Match } from "@parlance-inference/text-privacy/match";
import { ADDRESS_SPAN } from "@parlance-inference/text-privacy/personal-data/address";
import { personalDataFinder } from "@parlance-inference/text-privacy/personal-data/find-personal-data";
import { findSecrets, SECRET_SLICES } from "@parlance-inference/text-privacy/secrets/find-secrets";
import { plainSpelling } from "@parlance-inference/text-privacy/spellings";
import type { Guardrail } from "../../contracts/guardrail.ts";
import type { GuardrailServices } from "./guardrail-services.ts";

export interface TextFinder {
  /** Finds in a text of any length; a Promise for a long one, or where another service looks. Throws a Fault. */
  find(text: string, signal: AbortSignal): readonly Match[] | Promise<readonly Match[]>;
  /** Finds in a short text at once; undefined where another service looks. */
  findNow: ((text: string) => readonly Match[]) | undefined;
  /** How matches span words of a text that arrives in pieces. */
  span: WordSpan;
}

type FindNow = (text: string) => readonly Match[];

/** Policies live as long as the configuration or a cached key; their automata are built once. */
const finders = new WeakMap<Guardrail, FindNow>();

/** Undefined for guardrails that judge a text as a whole. */
export function finderOf(guardrail: Guardrail, services: GuardrailServices): TextFinder | undefined {
  if (guardrail.type === "pii" && guardrail.engine === "presidio") {
    const find: TextFinder["find"] = async (text, signal) => {
      const spelling = plainSpelling(text);
      const matches = await services.analyze(spelling?.text ?? text, guardrail, signal);
      return spelling === undefined ? matches : matches.map(spelling.toOriginal);
    };
    return { findNow: undefined, span: ONE_WORD, find };
  }
  const findNow = finders.get(guardrail) ?? createFinder(guardrail);
  if (findNow === undefined) return undefined;
  finders.set(guardrail, findNow);
  const slices = guardrail.type === "secrets" ? SECRET_SLICES : {};
  return {
    findNow,
    span: spanOf(guardrail),
    find: (text, signal) => findInSlices(text, findNow, { ...slices, signal }),
  };
}

const ONE_WORD: WordSpan = { words: 0 };

function spanOf({ type, entities, words = [] }: Guardrail): WordSpan {
  if (type === "words") return { words: Math.max(...words.map((word) => word.split(/\s+/).length)) };
  return type === "pii" && (entities?.includes("LOCATION") ?? true) ? ADDRESS_SPAN : ONE_WORD;
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
