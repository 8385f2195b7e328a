/** Lists of what servers offer, after the guardrails of a project. */

import { LRUCache } from "lru-cache";
import { type GuardResult, listGuard, type ResultReader } from "../../inference/guardrails/guard-tool.ts";
import type { Guards } from "../../inference/guardrails/guards.ts";
import { untilAborted } from "../../kernel/async/until-aborted.ts";
import { Fault } from "../../kernel/faults.ts";
import { parseObject } from "../../kernel/json/parse-object.ts";
import { checkList } from "./check-list.ts";
import { guardFault } from "./guard-tool-result.ts";
import type { McpOffer, OfferKind } from "./mcp-offer.ts";

export type Entry<Kind extends OfferKind> = McpOffer[Kind][number];

/** Each entry as the server wrote it, then as the guardrails pass it on. */
export type GuardedEntries<Kind extends OfferKind> = readonly (readonly [Entry<Kind>, Entry<Kind>])[];

/** Who reads a list. */
interface ListReader {
  reader: ResultReader;
  /** Whether later requests get the same list, so that its check is worth remembering. */
  isShared: boolean;
}

/** What guardrails did to a list. */
interface Checked {
  /** What stands in place of an entry, by its position; undefined: it is left out. */
  changes: ReadonlyMap<number, object | undefined>;
  /** Characters of what stands in place of entries. */
  characters: number;
}

/** Characters of all checks that are remembered. */
const MAX_CHARACTERS = 16_000_000;
/** What a change takes beside its characters. */
const CHARACTERS_PER_CHANGE = 100;

export class GuardedLists {
  /** By list and reader, policy, project, priority and what a request may use. */
  readonly #checks: LRUCache<string, Promise<Checked>>;
  /** Names of lists, of which a check that is remembered keeps nothing in memory but its changes. */
  readonly #names = new WeakMap<object, number>();
  #count = 0;

  constructor(maxCharacters = MAX_CHARACTERS) {
    this.#checks = new LRUCache({ maxSize: maxCharacters });
  }

  /**
   * Returns the entries that `allows` selects, without those that a guardrail blocks. `guardsOf`: returns the guardrails,
   * which end with this; undefined: nothing checks the list. Throws a Fault when a guardrail fails or the client leaves.
   */
  async guard<Kind extends OfferKind>(
    entries: McpOffer[Kind],
    allows: (entry: Entry<Kind>) => boolean,
    guardsOf: () => Guards | undefined,
    { reader, isShared }: ListReader,
  ): Promise<GuardedEntries<Kind>> {
    const all = entries as readonly Entry<Kind>[];
    const isAllowed = all.map(allows);
    const list = all.filter((_, index) => isAllowed[index]);
    const guards = list.length === 0 ? undefined : guardsOf();
    if (guards === undefined) return list.map((entry) => [entry, entry] as const);
    try {
      const check = () => checkEntries(list, listGuard(guards, reader));
      const { policy, priority } = guards;
      const selected = isAllowed.map(Number).join("");
      // An interactive request does not wait for a check in the background.
      const key = JSON.stringify([this.#nameOf(entries), reader, policy, deciderOf(guards), priority ?? "", selected]);
      const { changes } = await (isShared ? this.#checked(key, guards, check) : check());
      return list.flatMap((entry, index) => {
        const guarded = changes.has(index) ? changes.get(index) : entry;
        return guarded === undefined ? [] : [[entry, guarded as Entry<Kind>] as const];
      });
    } finally {
      guards.end();
    }
  }

  /** Returns the check of an earlier request, or of one that runs, or its own. */
  async #checked(key: string, { context }: Guards, check: () => Promise<Checked>): Promise<Checked> {
    const { signal, report } = context;
    // The caller of a check that failed may have left, or be beyond a limit.
    const running = this.#checks.get(key)?.catch(() => undefined);
    const earlier = running && (await untilAborted(running, signal));
    if (earlier !== undefined) return earlier;
    const checking = check();
    this.#checks.set(key, checking, { size: key.length });
    const settle = (checked?: Checked) => {
      if (this.#checks.peek(key) !== checking) return;
      if (checked === undefined || report.passedUnchecked) this.#checks.delete(key);
      // The cache keeps the size of a value that is set twice.
      else this.#checks.set(key, Promise.resolve(checked), { size: key.length + sizeOf(checked) });
    };
    checking.then(settle, () => settle());
    return checking;
  }

  #nameOf(list: object): number {
    const name = this.#names.get(list);
    if (name !== undefined) return name;
    this.#count += 1;
    this.#names.set(list, this.#count);
    return this.#count;
  }
}

function sizeOf({ changes, characters }: Checked): number {
  return characters + changes.size * CHARACTERS_PER_CHANGE;
}

/** Whose list it is, where a webhook decides by that. */
function deciderOf({ policy, context }: Guards) {
  const { organizationId, projectId } = context.judge.requested;
  return policy.some(({ type }) => type === "webhook") ? [organizationId, projectId] : [];
}

async function checkEntries(list: readonly object[], check: GuardResult): Promise<Checked> {
  const texts = list.map((entry) => JSON.stringify(entry));
  const passed = await checkList(texts, check);
  const changes = new Map<number, object | undefined>();
  let characters = 0;
  for (const [index, written] of texts.entries()) {
    const text = passed.get(index);
    if (text === written) continue;
    characters += text?.length ?? 0;
    changes.set(index, text === undefined ? undefined : parseObject(text));
  }
  return { changes, characters };
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
