/** Lists of what servers offer, after the guardrails of a project. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { guardToolCall, isRefusal, type ResultReader } from "../../inference/guardrails/guard-tool.ts";
import type { Guards } from "../../inference/guardrails/guards.ts";
import { Fault } from "../../kernel/faults.ts";
import { parseObject } from "../../kernel/json/parse-object.ts";
import { guardFault } from "./guard-tool-result.ts";
import type { McpOffer, OfferKind } from "./mcp-offer.ts";

export type Entry<Kind extends OfferKind> = McpOffer[Kind][number];

/** Each entry as the server wrote it, then as the guardrails pass it on. */
export type GuardedEntries<Kind extends OfferKind> = readonly (readonly [Entry<Kind>, Entry<Kind>])[];

type Check = (texts: readonly string[]) => Promise<readonly string[]>;

export class GuardedLists {
  readonly #reader: ResultReader;
  /** By list and policy, as long as the lists are remembered: they may have megabytes. */
  readonly #guarded = new WeakMap<object, Map<string, GuardedEntries<OfferKind>>>();

  constructor(reader: ResultReader) {
    this.#reader = reader;
  }

  /**
   * Returns a list without the entries that a guardrail blocks. `guardsOf`: returns the guardrails, which end with this;
   * undefined: nothing checks the list. Throws a Fault when a guardrail fails.
   */
  async guard<Kind extends OfferKind>(
    entries: McpOffer[Kind],
    guardsOf: () => Guards | undefined,
  ): Promise<GuardedEntries<Kind>> {
    const list = entries as readonly Entry<Kind>[];
    const guards = list.length === 0 ? undefined : guardsOf();
    if (guards === undefined) return list.map((entry) => [entry, entry] as const);
    try {
      const key = JSON.stringify(guards.policy);
      const byPolicy = this.#guarded.get(entries) ?? new Map<string, GuardedEntries<OfferKind>>();
      this.#guarded.set(entries, byPolicy);
      const cached = byPolicy.get(key) as GuardedEntries<Kind> | undefined;
      if (cached !== undefined) return cached;
      const { guardResult } = await guardToolCall(guards, {}, this.#reader);
      const guarded = await guardEntries<Kind>(list, (texts) => guardResult(texts));
      byPolicy.set(key, guarded);
      return guarded;
    } finally {
      guards.end();
    }
  }
}

/** Returns a fault with its message, of which a server wrote a part, after the guardrails, which end with this; or theirs. */
export async function guardListFault(fault: Fault, guards: Guards | undefined, reader: ResultReader): Promise<Fault> {
  if (guards === undefined) return fault;
  try {
    const { guardResult } = await guardToolCall(guards, {}, reader);
    return await guardFault(fault, guardResult);
  } catch (failure) {
    if (failure instanceof Fault) return failure;
    throw failure;
  } finally {
    guards.end();
  }
}

async function guardEntries<Kind extends OfferKind>(
  list: readonly Entry<Kind>[],
  check: Check,
): Promise<GuardedEntries<Kind>> {
  const texts = list.map((entry) => JSON.stringify(entry));
  const guarded = await check(texts).catch((failure: unknown) => {
    if (!isRefusal(failure)) throw failure;
    return undefined;
  });
  // A refusal does not name the entry: each is checked alone.
  const each = guarded ?? (await checkEach(texts, check));
  return list.flatMap((entry, index) => {
    const text = each[index];
    if (text === texts[index]) return [[entry, entry] as const];
    const object = text === undefined ? undefined : parseObject(text);
    return object === undefined ? [] : [[entry, object as Entry<Kind>] as const];
  });
}

/** Returns undefined for a text that a guardrail refuses. */
async function checkEach(texts: readonly string[], check: Check): Promise<(string | undefined)[]> {
  const output: (string | undefined)[] = [];
  for (const text of texts) {
    // Short texts are searched without a turn of the event loop.
    await nextTurn();
    try {
      output.push((await check([text]))[0]);
    } catch (failure) {
      if (!isRefusal(failure)) throw failure;
      output.push(undefined);
    }
  }
  return output;
}
