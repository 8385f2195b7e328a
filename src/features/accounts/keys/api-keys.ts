/** Creates, lists and revokes API keys. */

import { Fault, invalidRequest } from "../../../kernel/faults.ts";
import type { Executor } from "../../../storage/database.ts";
import type { Page, PageRequest } from "../../../storage/page.ts";
import type { ApiKeyRow, ProjectRow } from "../account-rows.ts";
import type { AccountTransaction, AccountTransactions } from "../account-transaction.ts";
import type { Actor } from "../audit/audit.ts";
import { checkName } from "../name.ts";
import { findExistingProject } from "../projects/projects.ts";
import { type Author, checkMayIssueKey, powersOf } from "../roles/may-grant.ts";
import { findServiceAccount } from "../service-accounts/service-account-queries.ts";
import { hasSecret, makeApiKey } from "./api-key.ts";
import {
  type ApiKeyFilter,
  type ApiKeyScope,
  findApiKey,
  findUsableApiKeys,
  listApiKeys,
  listOrganizationApiKeys,
  updateApiKey,
} from "./api-key-queries.ts";
import type { KeyPolicy } from "./key-policy.ts";
import { checkLifetime, findKeyRulesOf, maxLifetimeSeconds, readKeyRules, type UserKeyPolicy } from "./key-rules.ts";
import { type ApiKey, addApiKey, type CreatedApiKey, endApiKey, type NewApiKey, projectOf } from "./store-api-key.ts";

const UNBOUNDED: UserKeyPolicy = { maxPerProject: Number.MAX_SAFE_INTEGER };

export class ApiKeys {
  readonly #transactions: AccountTransactions;
  readonly #userKeys: UserKeyPolicy;

  constructor(transactions: AccountTransactions, userKeys: UserKeyPolicy = UNBOUNDED) {
    this.#transactions = transactions;
    this.#userKeys = userKeys;
  }

  /**
   * Creates a key. Throws a Fault for an invalid name, for a project that does not exist or is archived, and for a key
   * that allows more than the author may do.
   */
  async create(author: Author, wanted: NewApiKey): Promise<CreatedApiKey> {
    return this.#transactions.run(author, async (transaction) => {
      const { scope, permissions } = wanted;
      await checkScope(transaction.executor, scope);
      await checkMayIssueKey(transaction.executor, author, { ...scope, permissions });
      await this.#checkUserKey(transaction, wanted);
      return addApiKey(transaction, wanted, makeApiKey(wanted.scope.kind));
    });
  }

  /**
   * Lists keys, or those with `search` in their name or redacted value. Throws a Fault when the project or service
   * account does not exist.
   */
  async list(scope: ApiKeyScope, request: PageRequest, search?: string): Promise<Page<ApiKey>> {
    return this.#transactions.database.run(async (executor) => {
      await checkScope(executor, scope);
      return listApiKeys(executor, scope, request, search);
    });
  }

  /** Lists keys of all projects, and admin keys. Throws a Fault when the project of the filter does not exist. */
  async listAll(organizationId: string, filter: ApiKeyFilter, request: PageRequest): Promise<Page<ApiKey>> {
    return this.#transactions.database.run(async (executor) => {
      const { projectId } = filter;
      if (projectId !== undefined) await findExistingProject(executor, { organizationId, id: projectId });
      return listOrganizationApiKeys(executor, organizationId, filter, request);
    });
  }

  /** Throws a Fault when the key does not exist or was revoked. */
  async retrieve(scope: ApiKeyScope, id: string): Promise<ApiKey> {
    const key = await this.#transactions.database.run((executor) => findApiKey(executor, scope, id));
    if (key === undefined) throw noSuchKey(id);
    return key;
  }

  /**
   * Sets when the key expires, from now; null: never. Throws a Fault when the key does not exist, has no secret, or has
   * expired, since an expired key cannot be renewed, and when it allows more than the author may do.
   */
  async setExpiry(author: Author, scope: ApiKeyScope, id: string, expiresInSeconds: number | null): Promise<ApiKey> {
    return this.#transactions.run(author, async ({ executor, now, audit }) => {
      const key = await findRenewable(executor, scope, id, now);
      await checkMayIssueKey(executor, author, powersOf(key));
      const project = await projectOf(executor, key);
      const expiresAt = expiresInSeconds === null ? null : now + expiresInSeconds * 1000;
      if (expiresAt === key.expiresAt) return key;
      if (key.userId !== null) {
        const lifetimeSeconds = expiresAt === null ? undefined : (expiresAt - key.createdAt) / 1000;
        checkLifetime(lifetimeSeconds, this.#maxLifetimeSeconds(project));
      }
      await updateApiKey(executor, id, { expiresAt });
      const { organizationId } = key;
      await audit({ type: "api_key.updated", organizationId, project, resourceId: id, details: { expiresAt } });
      return { ...key, expiresAt };
    });
  }

  /** Renames a key. Throws a Fault when it does not exist, cannot be changed, or for an invalid name. */
  async rename(actor: Actor, scope: ApiKeyScope, id: string, name: string): Promise<ApiKey> {
    const checked = checkName(name);
    return this.#transactions.run(actor, async ({ executor, audit }) => {
      const key = await findChangeable(executor, scope, id);
      if (key.name === checked) return key;
      const project = await projectOf(executor, key);
      await updateApiKey(executor, id, { name: checked });
      const { organizationId } = key;
      await audit({ type: "api_key.updated", organizationId, project, resourceId: id, details: { name: checked } });
      return { ...key, name: checked };
    });
  }

  /**
   * Replaces a key by another one with its name, owner, lifetime and spend limit, which counts on; a key of a user lives
   * no longer than the rules allow. The old one works for `overlapSeconds`; 0: until this returns. Throws a Fault when it
   * does not exist, has no secret, has expired, cannot be changed, or allows more than the author may do.
   */
  async rotate(author: Author, scope: ApiKeyScope, id: string, overlapSeconds: number): Promise<CreatedApiKey> {
    return this.#transactions.run(author, async (transaction) => {
      const { executor, now, audit } = transaction;
      const key = await findRenewable(executor, scope, id, now);
      const { organizationId, userId, kind, name } = key;
      // The new secret would be another person's.
      if (userId !== null && userId !== author.userId) throw othersKey();
      await checkMayIssueKey(executor, author, powersOf(key));
      const project = await projectOf(executor, key);
      const newScope = scopeOfKey(key);
      const expiresInSeconds = this.#lifetimeOfSuccessor(key, project);
      const newKey = { scope: newScope, name, expiresInSeconds, replaces: key };
      // Keys that overlap may be one more than allowed.
      if (overlapSeconds > 0) await this.#checkUserKeyCount(transaction, newScope, 1);
      const created = await addApiKey(transaction, newKey, makeApiKey(kind));
      for (const policy of Object.values<KeyPolicy<unknown>>(this.#transactions.extensions.policies)) {
        await policy.copy?.(executor, id, created.key.id);
      }
      const endsAt = Math.min(now + overlapSeconds * 1000, key.expiresAt ?? Number.MAX_SAFE_INTEGER);
      if (overlapSeconds === 0) await endApiKey(transaction, key);
      else await updateApiKey(executor, id, { expiresAt: endsAt });
      const details = { rotatedTo: created.key.id, expiresAt: endsAt };
      await audit({ type: "api_key.updated", organizationId, project, resourceId: id, details });
      return created;
    });
  }

  /** Longest lifetime of a user's key in a project; infinite without a rule. */
  #maxLifetimeSeconds(project: Pick<ProjectRow, "keyRules"> | undefined): number {
    return maxLifetimeSeconds(this.#userKeys, readKeyRules(project?.keyRules));
  }

  /**
   * Lifetime of the key that replaces this one; undefined: it does not expire. The rules shorten it rather than refuse
   * the rotation, which is the way from a key of before the rules to one that follows them.
   */
  #lifetimeOfSuccessor(key: ApiKeyRow, project: ProjectRow | undefined): number | undefined {
    const lifetime = lifetimeSecondsOf(key);
    if (key.userId === null || key.kind !== "project") return lifetime;
    const bounded = Math.min(lifetime ?? Number.POSITIVE_INFINITY, this.#maxLifetimeSeconds(project));
    return Number.isFinite(bounded) ? bounded : undefined;
  }

  /** Throws a Fault for a key that a user may not have. */
  async #checkUserKey(transaction: AccountTransaction, { scope, expiresInSeconds }: NewApiKey): Promise<void> {
    if (scope.userId === undefined || scope.kind !== "project") return;
    const rules = await this.#checkUserKeyCount(transaction, scope, 0);
    checkLifetime(expiresInSeconds, maxLifetimeSeconds(this.#userKeys, rules));
  }

  /** Throws a Fault when a user has as many keys in a project as allowed, and `more`. Returns the project's rules. */
  async #checkUserKeyCount({ executor, now }: AccountTransaction, scope: ApiKeyScope, more: number) {
    const { userId, projectId, kind } = scope;
    if (userId === undefined || projectId === undefined || kind !== "project") return undefined;
    const rules = (await findKeyRulesOf(executor, [projectId])).get(projectId);
    const maxPerProject = Math.min(this.#userKeys.maxPerProject, rules?.maxKeysPerUser ?? Number.MAX_SAFE_INTEGER);
    const existing = (await findUsableApiKeys(executor, scope, now)).filter(hasSecret);
    if (existing.length >= maxPerProject + more) {
      const message = `You have ${existing.length} keys in this project; the maximum is ${maxPerProject}. Revoke one first.`;
      throw invalidRequest(message, undefined, "too_many_keys");
    }
    return rules;
  }

  /** Revokes the key from the next request on. Throws a Fault when it does not exist or cannot be revoked. */
  async revoke(actor: Actor, scope: ApiKeyScope, id: string): Promise<void> {
    // One that does not exist must not make changes to accounts wait.
    await this.retrieve(scope, id);
    // Not counted: a key that leaked has to end, and nobody revokes more than were created.
    await this.#transactions.run({ ...actor, countedAs: undefined }, async (transaction) => {
      const key = await findApiKey(transaction.executor, scope, id);
      if (key === undefined) throw noSuchKey(id);
      if (key.isFixed === 1) throw fixedKey();
      if (key.kind === "admin") await refuseLastAdminKey(transaction, key);
      await endApiKey(transaction, key);
    });
  }
}

async function findChangeable(executor: Executor, scope: ApiKeyScope, id: string): Promise<ApiKeyRow> {
  const key = await findApiKey(executor, scope, id);
  if (key === undefined) throw noSuchKey(id);
  if (key.isFixed === 1) throw fixedKey();
  return key;
}

/** Finds a key whose expiry or secret can change. */
async function findRenewable(executor: Executor, scope: ApiKeyScope, id: string, now: number): Promise<ApiKeyRow> {
  const key = await findChangeable(executor, scope, id);
  if (!hasSecret(key)) throw keyWithoutSecret();
  if (key.expiresAt !== null && key.expiresAt <= now) throw invalidRequest(`The API key \`${id}\` has expired.`);
  return key;
}

/**
 * Throws a Fault for the last admin key without a user that does not expire, without which nobody could administer the organization.
 */
async function refuseLastAdminKey({ executor, now }: AccountTransaction, key: ApiKeyRow): Promise<void> {
  if (key.userId !== null) return;
  const scope = { organizationId: key.organizationId, kind: "admin" } as const;
  const others = (await findUsableApiKeys(executor, scope, now)).filter(
    ({ id, userId }) => id !== key.id && userId === null,
  );
  const isReplaced = others.some(({ expiresAt }) => expiresAt === null || key.expiresAt !== null);
  if (isReplaced) return;
  throw invalidRequest("The last admin key cannot be deleted: first create another one that does not expire.");
}

/** Throws a Fault when the project or service account does not exist in the organization. */
async function checkScope(executor: Executor, scope: ApiKeyScope): Promise<void> {
  const { organizationId, projectId, serviceAccountId } = scope;
  if (projectId === undefined) return;
  await findExistingProject(executor, { organizationId, id: projectId });
  if (serviceAccountId === undefined) return;
  const account = await findServiceAccount(executor, { organizationId, projectId, id: serviceAccountId });
  if (account === undefined) throw new Fault("not-found", `There is no service account \`${serviceAccountId}\`.`);
}

function fixedKey(): Fault {
  return invalidRequest("This key is set in the service's environment and can be changed only there.");
}

function keyWithoutSecret(): Fault {
  const message =
    "Sessions and tokens call models with this key, which has no secret and does not expire. Create a key instead.";
  return invalidRequest(message, undefined, "key_without_secret");
}

function othersKey(): Fault {
  return new Fault("forbidden", "Only the user to whom the key belongs can rotate it. You can revoke it.");
}

function noSuchKey(id: string): Fault {
  return new Fault("not-found", `There is no API key \`${id}\`.`);
}

function lifetimeSecondsOf({ createdAt, expiresAt }: ApiKeyRow): number | undefined {
  return expiresAt === null ? undefined : Math.ceil((expiresAt - createdAt) / 1000);
}

function scopeOfKey({ organizationId, kind, projectId, serviceAccountId, userId }: ApiKeyRow): ApiKeyScope {
  return {
    organizationId,
    kind,
    ...(projectId !== null && { projectId }),
    ...(serviceAccountId !== null && { serviceAccountId }),
    ...(userId !== null && { userId }),
  };
}
