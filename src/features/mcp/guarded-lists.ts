/** Lists of what servers offer, after the guardrails of a project. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { type GuardResult, isRefusal, listGuard, type ResultReader } from "../../inference/guardrails/guard-tool.ts";
import type { Guards } from "../../inference/guardrails/guards.ts";
import { Fault } from "../../kernel/faults.ts";
import { growingCache } from "../../kernel/growing-cache.ts";
import { parseObject } from "../../kernel/json/parse-object.ts";
import { guardFault } from "./guard-tool-result.ts";
import type { McpOffer, OfferKind } from "./mcp-offer.ts";

export type Entry<Kind extends OfferKind> = McpOffer[Kind][number];

/** Each entry as the server wrote it, then as the guardrails pass it on. */
export type GuardedEntries<Kind extends OfferKind> = readonly (readonly [Entry<Kind>, Entry<Kind>])[];

/** Checks of a list that are remembered: by policy, project and what a request may use. */
const MAX_CHECKS = 20;

type Checks = ReturnType<typeof growingCache<Promise<GuardedEntries<OfferKind>>>>;

export class GuardedLists {
  readonly #reader: ResultReader;
  /** By list, as long as the lists are remembered: they may have megabytes. */
  readonly #checks = new WeakMap<object, Checks>();

  constructor(reader: ResultReader) {
    this.#reader = reader;
  }

  /**
   * Returns the entries that `allows` selects, without those that a guardrail blocks. `guardsOf`: returns the guardrails,
   * which end with this; undefined: nothing checks the list. Throws a Fault when a guardrail fails.
   */
  async guard<Kind extends OfferKind>(
    entries: McpOffer[Kind],
    allows: (entry: Entry<Kind>) => boolean,
    guardsOf: () => Guards | undefined,
  ): Promise<GuardedEntries<Kind>> {
    const all = entries as readonly Entry<Kind>[];
    const isAllowed = all.map(allows);
    const list = all.filter((_, index) => isAllowed[index]);
    const guards = list.length === 0 ? undefined : guardsOf();
    if (guards === undefined) return list.map((entry) => [entry, entry] as const);
    try {
      const checks: Checks = this.#checks.get(entries) ?? growingCache(MAX_CHECKS);
      this.#checks.set(entries, checks);
      const key = JSON.stringify([guards.policy, deciderOf(guards), isAllowed.map(Number).join("")]);
      const running = checks.get(key);
      // The caller of a check that failed may have left, or be beyond a limit.
      const earlier = running && (await running.catch(() => undefined));
      if (earlier !== undefined) return earlier as GuardedEntries<Kind>;
      const checking = guardEntries<Kind>(list, listGuard(guards, this.#reader));
      checks.set(key, checking);
      const forget = () => {
        if (checks.peek(key) === checking) checks.delete(key);
      };
      checking.then(() => guards.context.report.passedUnchecked && forget(), forget);
      return await checking;
    } finally {
      guards.end();
    }
  }
}

/** Whose list it is, where a webhook decides by that. */
function deciderOf({ policy, context }: Guards) {
  const { organizationId, projectId } = context.judge.requested;
  return policy.some(({ type }) => type === "webhook") ? [organizationId, projectId] : [];
}

/** Returns a fault with its message, of which a server wrote a part, after the guardrails, which end with this; or theirs. */
export async function guardListFault(fault: Fault, guards: Guards | undefined, reader: ResultReader): Promise<Fault> {
  if (guards === undefined) return fault;
  try {
    return await guardFault(fault, listGuard(guards, reader));
  } catch (failure) {
    if (failure instanceof Fault) return failure;
    throw failure;
  } finally {
    guards.end();
  }
}

async function guardEntries<Kind extends OfferKind>(
  list: readonly Entry<Kind>[],
  check: GuardResult,
): Promise<GuardedEntries<Kind>> {
  const texts = list.map((entry) => JSON.stringify(entry));
  const guarded = await checkParts(texts, check);
  return list.flatMap((entry, index) => {
    const text = guarded[index];
    if (text === texts[index]) return [[entry, entry] as const];
    const object = text === undefined ? undefined : parseObject(text);
    return object === undefined ? [] : [[entry, object as Entry<Kind>] as const];
  });
}

/** Checks texts together; where a guardrail refuses them, by halves. Returns undefined for a text that it refuses alone. */
async function checkParts(texts: readonly string[], check: GuardResult): Promise<readonly (string | undefined)[]> {
  try {
    return await check(texts);
  } catch (failure) {
    if (!isRefusal(failure)) throw failure;
  }
  if (texts.length === 1) return [undefined];
  const half = Math.ceil(texts.length / 2);
  const output: (string | undefined)[] = [];
  for (const part of [texts.slice(0, half), texts.slice(half)]) {
    // Short texts are searched without a turn of the event loop.
    await nextTurn();
    output.push(...(await checkParts(part, check)));
  }
  return output;
}
