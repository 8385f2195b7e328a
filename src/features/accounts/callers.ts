/** Callers by their keys: who they are, and what they may use. */

import type { Caller, Priority } from "../../contracts/caller.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { RequestLabels } from "../../kernel/usage.ts";
import { hashApiKey } from "./keys/api-key.ts";
import { ApiKeyCache } from "./keys/api-key-cache.ts";
import type { KeyUse } from "./keys/api-key-queries.ts";
import { type CachedKey, type KeyRecord, type KeySource, toCachedKey } from "./keys/cached-key.ts";
import { type AllKeyPolicies, type KeyPolicies, noPolicies, type PolicyName } from "./keys/key-policy.ts";
import type { ModelAccess } from "./projects/model-access.ts";

/** No valid key is longer; longer ones are refused without hashing. */
export const MAX_KEY_LENGTH = 512;
const DEFAULT_GRACE_SECONDS = 300;

/** Address and user agent from which a key is used. */
export interface KeyClient {
  address: string;
  client: string | undefined;
}

/** Renews the session with this hash at its provider. Throws a Fault. */
type RenewSession = (keyHash: string) => Promise<void>;

export interface CallersOptions {
  source: KeySource;
  policies: AllKeyPolicies;
  logger: Logger;
  /** How long cached keys keep working while the database is unavailable. */
  graceSeconds?: number | undefined;
  /** Called with each use of a key. */
  noteUse: (keyId: string, use: KeyUse) => void;
}

export class Callers {
  readonly keys: ApiKeyCache;
  #renewSession: RenewSession | undefined;
  readonly #noteUse: CallersOptions["noteUse"];
  readonly #noPolicies: KeyPolicies;
  readonly #cachedKeyOf: WeakMap<Caller, CachedKey> = new WeakMap();
  readonly #keyHashOf: WeakMap<Caller, string> = new WeakMap();

  constructor({ source, policies, logger, graceSeconds = DEFAULT_GRACE_SECONDS, noteUse }: CallersOptions) {
    this.#noPolicies = noPolicies(policies);
    this.keys = new ApiKeyCache({ source, logger, graceSeconds });
    this.#noteUse = noteUse;
  }

  /** Renews sessions that providers renew, from now on. */
  renewSessionsBy(renew: RenewSession): void {
    this.#renewSession = renew;
  }

  /** Records from where a caller's key is used. */
  noteClient({ keyId }: Caller, { address, client }: KeyClient): void {
    this.#noteUse(keyId, { time: Date.now(), address, client });
  }

  /** Undefined for a key that does not work. Throws a Fault when it cannot be checked now. */
  async find(keyHash: string): Promise<Caller | undefined> {
    return this.#admitted(keyHash, await this.keys.find(keyHash));
  }

  /**
   * Finds the caller of a console session. Renews one whose time is over at its provider first, and one whose renewal is
   * due in the background. Throws a Fault when that cannot be done now.
   */
  async findSession(keyHash: string): Promise<Caller | undefined> {
    const cached = await this.keys.find(keyHash);
    if (cached?.renewAt === undefined || this.#renewSession === undefined) return this.#admitted(keyHash, cached);
    if (!isOver(cached)) {
      this.#renewInBackground(keyHash, cached);
      return this.#admitted(keyHash, cached);
    }
    await this.#renewSession(keyHash);
    return this.#admitted(keyHash, await this.keys.find(keyHash));
  }

  /** Finds without a query; returns undefined unless the key works and its cache entry is fresh. */
  findKnown(key: string | undefined): Caller | undefined {
    if (key === undefined || key.length > MAX_KEY_LENGTH) return undefined;
    const keyHash = hashApiKey(key);
    return this.#admitted(keyHash, this.keys.findFresh(keyHash));
  }

  /** Returns the same caller with a priority. */
  withPriority(caller: Caller, priority: Priority): Caller {
    return this.#copy(caller, { priority });
  }

  /** Returns the same caller with labels of its request. */
  withLabels(caller: Caller, labels: RequestLabels): Caller {
    return this.#copy(caller, { labels });
  }

  #copy(caller: Caller, changes: Pick<Caller, "priority" | "labels">): Caller {
    const copy = { ...caller, ...changes };
    this.#cachedKeyOf.set(copy, this.#requireCachedKey(caller));
    this.#keyHashOf.set(copy, this.credentialOf(caller));
    return copy;
  }

  /** Adds the operator in another organization, whose limits do not concern it. */
  addOperator(acting: Caller, operator: Caller): void {
    const cached = this.#cachedKeyOf.get(operator);
    if (cached === undefined) return;
    this.#cachedKeyOf.set(acting, toCachedKey({ ...cached, ...this.#noPolicies, permissions: [], caller: acting }));
    this.#keyHashOf.set(acting, this.credentialOf(operator));
  }

  /** Returns the caller of a key for what it costs, and nothing else: the key may have ended. */
  toBill(record: KeyRecord): Caller {
    this.#cachedKeyOf.set(record.caller, toCachedKey(record));
    return record.caller;
  }

  /** Model permissions of a caller that this returned. */
  modelAccess(caller: Caller): ModelAccess {
    return this.#requireCachedKey(caller).mayUse;
  }

  /** Value of a policy for a caller that this returned. */
  policyOf<Name extends PolicyName>(caller: Caller, name: Name): KeyPolicies[Name] {
    return this.#requireCachedKey(caller)[name];
  }

  /**
   * Returns a caller that this returned as it is now, with its priority and labels, which is no use of its key; undefined
   * once its key or session has ended. Throws a Fault while that cannot be checked.
   */
  async current(caller: Caller): Promise<Caller | undefined> {
    const keyHash = this.credentialOf(caller);
    const cached = await this.keys.find(keyHash);
    if (cached === undefined || isOver(cached)) return undefined;
    this.#renewInBackground(keyHash, cached);
    if (cached === this.#cachedKeyOf.get(caller)) return caller;
    const { priority, labels } = caller;
    return this.#copy(this.#remember(keyHash, cached), { ...(priority && { priority }), ...(labels && { labels }) });
  }

  /** Hash of the key or session of a caller that this returned. */
  credentialOf(caller: Caller): string {
    return this.#keyHashOf.get(caller) ?? "";
  }

  /** Whether the key of a caller that this returned was not revoked since; true while that cannot be checked. */
  async stillWorks(caller: Caller): Promise<boolean> {
    try {
      const keyHash = this.credentialOf(caller);
      const cached = await this.keys.find(keyHash);
      if (cached?.renewAt === undefined) return cached !== undefined;
      this.#renewInBackground(keyHash, cached);
      return !isOver(cached);
    } catch (failure) {
      if (failure instanceof Fault) return true;
      throw failure;
    }
  }

  #admitted(keyHash: string, cached: CachedKey | undefined): Caller | undefined {
    if (cached === undefined || isOver(cached)) return undefined;
    this.#noteUse(cached.caller.keyId, { time: Date.now() });
    return this.#remember(keyHash, cached);
  }

  #remember(keyHash: string, cached: CachedKey): Caller {
    this.#cachedKeyOf.set(cached.caller, cached);
    this.#keyHashOf.set(cached.caller, keyHash);
    return cached.caller;
  }

  #renewInBackground(keyHash: string, { renewAt }: CachedKey): void {
    if (renewAt === undefined || renewAt > Date.now()) return;
    // A failure stays in the log of the renewal; the session works until its time is over.
    this.#renewSession?.(keyHash).catch(() => {});
  }

  #requireCachedKey(caller: Caller): CachedKey {
    const cached = this.#cachedKeyOf.get(caller);
    if (cached === undefined) throw new Error("the caller was not returned by authenticate()");
    return cached;
  }
}

function isOver({ expiresAt }: CachedKey): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}
