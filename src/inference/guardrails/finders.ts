/** Finders of guardrails: local ones, of large requests in threads, and those of other services. */

import { extname } from "node:path";
import type { WordSpan } from "@parlance-inference/text-privacy/masking-transform";
import type { Match } from "@parlance-inference/text-privacy/match";
import { ADDRESS_SPAN } from "@parlance-inference/text-privacy/personal-data/address";
import { plainSpelling } from "@parlance-inference/text-privacy/spellings";
import type { Guardrail } from "../../contracts/guardrail.ts";
import { ThreadPool } from "../../kernel/process/thread-pool.ts";
import type { ChannelText } from "./channels.ts";
import type { FindTask } from "./find-worker.ts";
import type { GuardrailServices } from "./guardrail-services.ts";
import { createLocalFinder, type LocalFinder } from "./local-finder.ts";
import { type Located, locate } from "./locate.ts";
import { findSplitAddresses, type SplitAddress } from "./split-addresses.ts";

export interface TextFinder {
  /** Finds in a text; a Promise for a long one, or where another service looks. Throws a Fault. */
  find(text: string, signal: AbortSignal): readonly Match[] | Promise<readonly Match[]>;
  /** Finds in texts of any size and number. Throws a Fault. */
  locate(inputs: readonly ChannelText[], signal: AbortSignal): Promise<Located>;
  /** Finds addresses that begin in one text and end in a later one. */
  findSplit(inputs: readonly ChannelText[], signal: AbortSignal): Promise<readonly SplitAddress[]>;
  /** Finds in a short text at once; undefined where another service looks. */
  findNow: ((text: string) => readonly Match[]) | undefined;
  /** How matches span words of a text that arrives in pieces. */
  span: WordSpan;
}

/** Policies live as long as the configuration or a cached key; their automata are built once. */
const finders = new WeakMap<Guardrail, LocalFinder>();

const entry = new URL(`./find-worker${extname(new URL(import.meta.url).pathname)}`, import.meta.url);
const pool = new ThreadPool<FindTask, Located | SplitAddress[]>(entry);
/** Size from which a thread searches: the event loop would do it in some 10 ms. */
const LARGE_CHARACTERS = 65_536;
/** What a text costs beside its characters. */
const CHARACTERS_PER_TEXT = 64;

interface FinderContext {
  services: GuardrailServices;
  /** Project whose turn a large search takes. */
  project: string;
}

/** Undefined for guardrails that judge a text as a whole. */
export function finderOf(guardrail: Guardrail, { services, project }: FinderContext): TextFinder | undefined {
  if (guardrail.type === "pii" && guardrail.engine === "presidio") {
    const find = async (text: string, signal: AbortSignal) => {
      const spelling = plainSpelling(text);
      const matches = await services.analyze(spelling?.text ?? text, guardrail, signal);
      return spelling === undefined ? matches : matches.map(spelling.toOriginal);
    };
    const locateThere: TextFinder["locate"] = (inputs, signal) => locate(inputs, (text) => find(text, signal));
    return { findNow: undefined, span: ONE_WORD, find, locate: locateThere, findSplit: async () => [] };
  }
  const local = finders.get(guardrail) ?? createLocalFinder(guardrail);
  if (local === undefined) return undefined;
  finders.set(guardrail, local);
  const { find, findNow } = local;
  const search = (task: Pick<FindTask, "inputs" | "search">, signal: AbortSignal) =>
    pool.run({ guardrail, ...task }, { project, signal });
  return {
    ...{ find, findNow, span: spanOf(guardrail) },
    locate: async (inputs, signal) =>
      isLarge(inputs)
        ? ((await search({ inputs, search: "values" }, signal)) as Located)
        : locate(inputs, (text) => find(text, signal)),
    findSplit: async (inputs, signal) => {
      if (guardrail.type !== "pii") return [];
      return isLarge(inputs)
        ? ((await search({ inputs, search: "split addresses" }, signal)) as SplitAddress[])
        : findSplitAddresses(inputs, findNow);
    },
  };
}

function isLarge(inputs: readonly ChannelText[]): boolean {
  let size = 0;
  for (const { text } of inputs) size += text.length + CHARACTERS_PER_TEXT;
  return size > LARGE_CHARACTERS;
}

const ONE_WORD: WordSpan = { words: 0 };

function spanOf({ type, entities, words = [] }: Guardrail): WordSpan {
  if (type === "words") return { words: Math.max(...words.map((word) => word.split(/\s+/).length)) };
  return type === "pii" && (entities?.includes("LOCATION") ?? true) ? ADDRESS_SPAN : ONE_WORD;
}
