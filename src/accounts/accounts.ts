/** Organisations, projects and keys: who asks, and what they may use. */

import { Fault, unavailable } from "../faults.ts";
import type { Logger } from "../observability/logger.ts";
import type { ApiKeyScope } from "../storage/api-keys.ts";
import type { Database } from "../storage/database.ts";
import { findDefaultOrganization } from "../storage/organizations.ts";
import { findDefaultProject } from "../storage/projects.ts";
import { AccountChanges } from "./account-changes.ts";
import { hashApiKey, redactApiKey } from "./api-key.ts";
import { ApiKeys } from "./api-keys.ts";
import { AuditTrail } from "./audit-trail.ts";
import type { Caller } from "./caller.ts";
import { ensureFirstKeys, type FirstKeys, type FixedKeys } from "./first-keys.ts";
import type { KeyProof } from "./key-proof.ts";
import { KeyProofs } from "./key-proofs.ts";
import { LastUsed } from "./last-used.ts";
import type { ModelAccess } from "./model-access.ts";
import { ModelPermissionSettings } from "./model-permission-settings.ts";
import { ModerationPolicySettings, type ProjectModeration } from "./moderation-policy-settings.ts";
import { Organizations } from "./organizations.ts";
import { Projects } from "./projects.ts";
import { type ModelRateLimit, RateLimitSettings } from "./rate-limit-settings.ts";
import { checkScopeHeaders, type ScopeHeaders } from "./scope-headers.ts";
import { ServiceAccounts } from "./service-accounts.ts";
import { type SpendLimit, SpendLimitSettings } from "./spend-limit-settings.ts";

export type { FirstKeys, FixedKeys } from "./first-keys.ts";
export type { ModelAccess } from "./model-access.ts";

/** No key of Parlance's or an operator's is longer, and nothing longer is worth hashing. */
const MAX_KEY_LENGTH = 512;
const DEFAULT_GRACE_SECONDS = 300;
const DEFAULT_LAST_USED_EVERY_SECONDS = 10;

export interface AccountsOptions {
  database: Database;
  logger: Logger;
  /** How long keys that are known go on working while the database is away. */
  databaseGraceSeconds?: number | undefined;
  /** How often the times of last use are written. */
  lastUsedEverySeconds?: number | undefined;
}

export class Accounts {
  readonly organizations: Organizations;
  readonly projects: Projects;
  readonly serviceAccounts: ServiceAccounts;
  readonly apiKeys: ApiKeys;
  readonly modelPermissions: ModelPermissionSettings;
  readonly rateLimits: RateLimitSettings;
  readonly spendLimits: SpendLimitSettings;
  readonly moderationPolicies: ModerationPolicySettings;
  readonly auditTrail: AuditTrail;
  readonly #database: Database;
  readonly #changes: AccountChanges;
  readonly #proofs: KeyProofs;
  readonly #lastUsed: LastUsed;
  #areFirstKeysMissing = false;
  readonly #proofOf: WeakMap<Caller, KeyProof> = new WeakMap();

  constructor(options: AccountsOptions) {
    const { database, logger } = options;
    this.#database = database;
    const graceSeconds = options.databaseGraceSeconds ?? DEFAULT_GRACE_SECONDS;
    this.#proofs = new KeyProofs({ database, logger, graceSeconds });
    this.#changes = new AccountChanges(database, () => this.#proofs.reload());
    this.#lastUsed = new LastUsed(database, logger, options.lastUsedEverySeconds ?? DEFAULT_LAST_USED_EVERY_SECONDS);
    this.organizations = new Organizations(this.#changes);
    this.projects = new Projects(this.#changes);
    this.serviceAccounts = new ServiceAccounts(this.#changes);
    this.apiKeys = new ApiKeys(this.#changes);
    this.modelPermissions = new ModelPermissionSettings(this.#changes);
    this.spendLimits = new SpendLimitSettings(this.#changes);
    this.rateLimits = new RateLimitSettings(this.#changes);
    this.moderationPolicies = new ModerationPolicySettings(this.#changes);
    this.auditTrail = new AuditTrail(database);
  }

  /** `key` is what the client sent. Throws a Fault when it does not work, or when that cannot be known now. */
  async authenticate(key: string | undefined): Promise<Caller> {
    if (key === undefined || key === "") {
      const message = "No API key was sent. Send it in the header `Authorization: Bearer YOUR_KEY`.";
      throw new Fault("unauthenticated", message);
    }
    if (key.length > MAX_KEY_LENGTH) throw incorrectKey(key);
    const caller = this.#admitted(await this.#proofs.find(hashApiKey(key)));
    if (caller !== undefined) return caller;
    // It may be one of those that are being made: a client must not take it for refused.
    if (this.#areFirstKeysMissing) throw starting();
    throw incorrectKey(key);
  }

  /** As `authenticate`, for a key that works and of which all is known already; undefined for any other. */
  authenticateKnown(key: string | undefined): Caller | undefined {
    if (key === undefined || key.length > MAX_KEY_LENGTH) return undefined;
    return this.#admitted(this.#proofs.findFresh(hashApiKey(key)));
  }

  #admitted(proof: KeyProof | undefined): Caller | undefined {
    const now = Date.now();
    if (proof === undefined || (proof.expiresAt !== undefined && proof.expiresAt <= now)) return undefined;
    this.#proofOf.set(proof.caller, proof);
    this.#lastUsed.note(proof.caller.keyId, now);
    return proof.caller;
  }

  /** What this caller, which `authenticate` returned, may use now. */
  modelAccess(caller: Caller): ModelAccess {
    return this.#provedOf(caller).mayUse;
  }

  /** What was set for the project of this caller, which `authenticate` returned. */
  rateLimitsOf(caller: Caller): readonly ModelRateLimit[] {
    return this.#provedOf(caller).rateLimits;
  }

  /** Those that bind this caller, which `authenticate` returned. */
  spendLimitsOf(caller: Caller): readonly SpendLimit[] {
    return this.#provedOf(caller).spendLimits;
  }

  /** How all chats of the project of this caller, which `authenticate` returned, are moderated. */
  moderationOf(caller: Caller): ProjectModeration | undefined {
    return this.#provedOf(caller).moderation;
  }

  #provedOf(caller: Caller): KeyProof {
    const proof = this.#proofOf.get(caller);
    if (proof === undefined) throw new Error("a caller was asked about that was not authenticated");
    return proof;
  }

  /** Throws a Fault when the client's headers name another organisation or project than the key's. */
  async checkScopeHeaders(caller: Caller, headers: ScopeHeaders): Promise<void> {
    await checkScopeHeaders(this.#database, caller, headers);
  }

  /** Makes at first start what is needed to begin; at every start, the operator's fixed keys hold. */
  async ensureFirstKeys(fixed: FixedKeys): Promise<FirstKeys> {
    this.#areFirstKeysMissing = true;
    const keys = await ensureFirstKeys(this.#changes, fixed);
    this.#areFirstKeysMissing = false;
    return keys;
  }

  /** Throws a Fault while the database does not answer, or the first keys wait for it. */
  async check(): Promise<void> {
    try {
      await this.#database.check();
    } catch (error) {
      this.#proofs.noteAway(error);
      throw error;
    }
    if (this.#areFirstKeysMissing) throw starting();
  }

  /** What the operator's commands mean when they name no organisation or project. */
  async defaultScope(kind: ApiKeyScope["kind"]): Promise<ApiKeyScope> {
    return this.#database.run(async (executor) => {
      const organization = await findDefaultOrganization(executor);
      const project = organization && (await findDefaultProject(executor, organization.id));
      if (organization === undefined || project === undefined) {
        throw new Fault(
          "not-found",
          "There is no organization yet. Start the service once, which makes the first one.",
        );
      }
      if (kind === "admin") return { organizationId: organization.id, kind };
      return { organizationId: organization.id, projectId: project.id, kind };
    });
  }

  /** Writes what is still to be written. The database stays open. */
  async close(): Promise<void> {
    await this.#lastUsed.close();
  }
}

function starting(): Fault {
  return unavailable("The service is starting. Try again in a moment.", "database_unavailable", 1);
}

function incorrectKey(key: string): Fault {
  const message = `Incorrect API key provided: ${redactApiKey(key.slice(0, MAX_KEY_LENGTH))}.`;
  return new Fault("unauthenticated", message, { code: "invalid_api_key" });
}
