/** Callers by their keys: who they are, and what they may use. */

import type { Caller, Priority } from "../../contracts/caller.ts";
import type { Guardrail } from "../../contracts/guardrail.ts";
import type { RecordingPolicy } from "../../inference/recording/recording-policy.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { RequestLabels } from "../../kernel/usage.ts";
import type { ApplicableBudget } from "../budgets/applicable-budget.ts";
import type { ProjectModeration } from "../moderations/moderation-policy-service.ts";
import type { ModelRateLimit } from "../quota/rate-limit-service.ts";
import type { SpendLimit } from "../quota/spend-limit-service.ts";
import { hashApiKey } from "./keys/api-key.ts";
import { ApiKeyCache } from "./keys/api-key-cache.ts";
import type { KeyUse } from "./keys/api-key-queries.ts";
import { type CachedKey, type KeySource, toCachedKey } from "./keys/cached-key.ts";
import type { ModelAccess } from "./projects/model-access.ts";

/** No valid key is longer; longer ones are refused without hashing. */
export const MAX_KEY_LENGTH = 512;
const DEFAULT_GRACE_SECONDS = 300;

/** Address and user agent from which a key is used. */
export interface KeyClient {
  address: string;
  client: string | undefined;
}

export interface CallersOptions {
  source: KeySource;
  logger: Logger;
  /** How long cached keys keep working while the database is unavailable. */
  graceSeconds?: number | undefined;
  /** Called with each use of a key. */
  noteUse: (keyId: string, use: KeyUse) => void;
}

export class Callers {
  readonly keys: ApiKeyCache;
  /** Set while sign-on is configured: renews the session with this hash at its provider. Throws a Fault. */
  renewSession: ((keyHash: string) => Promise<void>) | undefined;
  readonly #noteUse: CallersOptions["noteUse"];
  readonly #cachedKeyOf: WeakMap<Caller, CachedKey> = new WeakMap();
  readonly #keyHashOf: WeakMap<Caller, string> = new WeakMap();

  constructor({ source, logger, graceSeconds = DEFAULT_GRACE_SECONDS, noteUse }: CallersOptions) {
    this.keys = new ApiKeyCache({ source, logger, graceSeconds });
    this.#noteUse = noteUse;
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
    if (cached?.renewAt === undefined || this.renewSession === undefined) return this.#admitted(keyHash, cached);
    if (!isOver(cached)) {
      this.#renewInBackground(keyHash, cached);
      return this.#admitted(keyHash, cached);
    }
    await this.renewSession(keyHash);
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
    this.#keyHashOf.set(copy, this.#keyHashOf.get(caller) ?? "");
    return copy;
  }

  /** Adds the operator in another organization, whose limits do not concern it. */
  addOperator(acting: Caller, operator: Caller): void {
    const cached = this.#cachedKeyOf.get(operator);
    if (cached === undefined) return;
    const unlimited = { permissions: [], rateLimits: [], spendLimits: [], budgets: [], moderation: undefined };
    this.#cachedKeyOf.set(acting, toCachedKey({ ...cached, ...unlimited, caller: acting }));
    this.#keyHashOf.set(acting, this.#keyHashOf.get(operator) ?? "");
  }

  /** Model permissions of a caller that this returned. */
  modelAccess(caller: Caller): ModelAccess {
    return this.#requireCachedKey(caller).mayUse;
  }

  /** Rate limits set for the project of a caller that this returned. */
  rateLimitsOf(caller: Caller): readonly ModelRateLimit[] {
    return this.#requireCachedKey(caller).rateLimits;
  }

  /** Spend limits that apply to a caller that this returned. */
  spendLimitsOf(caller: Caller): readonly SpendLimit[] {
    return this.#requireCachedKey(caller).spendLimits;
  }

  /** Budgets that may apply to a caller that this returned. */
  budgetsOf(caller: Caller): readonly ApplicableBudget[] {
    return this.#requireCachedKey(caller).budgets;
  }

  /** Moderation policy of the project of a caller that this returned. */
  moderationOf(caller: Caller): ProjectModeration | undefined {
    return this.#requireCachedKey(caller).moderation;
  }

  /** Guardrails of the project of a caller that this returned, except for its moderation policy. */
  guardrailsOf(caller: Caller): readonly Guardrail[] {
    return this.#requireCachedKey(caller).guardrails;
  }

  /** What the project of a caller that this returned records; undefined: nothing. */
  recordingOf(caller: Caller): RecordingPolicy | undefined {
    return this.#requireCachedKey(caller).recording;
  }

  /** Whether the key of a caller that this returned was not revoked since; true while that cannot be checked. */
  async stillWorks(caller: Caller): Promise<boolean> {
    try {
      const keyHash = this.#keyHashOf.get(caller) ?? "";
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
    this.#cachedKeyOf.set(cached.caller, cached);
    this.#keyHashOf.set(cached.caller, keyHash);
    this.#noteUse(cached.caller.keyId, { time: Date.now() });
    return cached.caller;
  }

  #renewInBackground(keyHash: string, { renewAt }: CachedKey): void {
    if (renewAt === undefined || renewAt > Date.now()) return;
    // A failure stays in the log of the renewal; the session works until its time is over.
    this.renewSession?.(keyHash).catch(() => {});
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
