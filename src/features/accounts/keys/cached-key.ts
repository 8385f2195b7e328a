import type { Access, Caller } from "../../../contracts/caller.ts";
import type { Guardrail } from "../../../contracts/guardrail.ts";
import { allows, restrictAccess } from "../../../http/access.ts";
import type { RecordingPolicy } from "../../../inference/recording/recording-policy.ts";
import type { Database, Executor } from "../../../storage/database.ts";
import { type ApplicableBudget, budgetsOfKey } from "../../budgets/applicable-budget.ts";
import { findBudgetsOf } from "../../budgets/budget-queries.ts";
import { findGrantedApiKeys } from "../../console/console-grant-queries.ts";
import { findGuardrailsOf } from "../../guardrails/guardrail-queries.ts";
import { toGuardrails } from "../../guardrails/stored-guardrails.ts";
import { type ProjectModeration, toProjectModeration } from "../../moderations/moderation-policy-service.ts";
import { findModerationPoliciesOf } from "../../moderations/policy-queries.ts";
import { findRateLimitsOf } from "../../quota/rate-limit-queries.ts";
import type { ModelRateLimit } from "../../quota/rate-limit-service.ts";
import { findSpendLimitsOf } from "../../quota/spend-limit-queries.ts";
import type { SpendLimit } from "../../quota/spend-limit-service.ts";
import { toRecordingPolicy } from "../../recorded-content/project-recording-service.ts";
import { findRecordingsOf } from "../../recorded-content/recorded-content-queries.ts";
import { findSessionKeys } from "../../sign-on/user-session-queries.ts";
import type { ModelPermissionsRow } from "../account-rows.ts";
import { readAccountsVersion } from "../accounts-version.ts";
import { type ModelAccess, type ModelPermissions, modelAccess } from "../projects/model-access.ts";
import { findModelPermissionsOf } from "../projects/model-permission-queries.ts";
import { findAccess, toPermissions } from "../roles/find-access.ts";
import { findUsersByIds } from "../users/user-queries.ts";
import { type ActiveApiKeyRow, findActiveApiKeys } from "./active-api-key-queries.ts";
import { findKeyRulesOf, permissionsByRules, spendLimitsByRules } from "./key-rules.ts";

/** A key that works and what applies to it, as plain data. */
export interface KeyRecord {
  caller: Caller;
  /** Epoch milliseconds. */
  expiresAt: number | undefined;
  /** For sessions that a provider renews: from when on that is due. Epoch milliseconds. */
  renewAt?: number | undefined;
  /** Permissions of the organization and the project. */
  permissions: readonly ModelPermissions[];
  /** Rate limits of the project, by model. */
  rateLimits: readonly ModelRateLimit[];
  /** Spend limits of the organization, the project and the key. */
  spendLimits: readonly SpendLimit[];
  /** Budgets that may apply to requests with the key. */
  budgets: readonly ApplicableBudget[];
  /** Moderation policy of the project, if it has one. */
  moderation: ProjectModeration | undefined;
  /** Guardrails of the project except for its moderation policy, in order. */
  guardrails: readonly Guardrail[];
  /** What the project records; undefined: nothing. */
  recording?: RecordingPolicy | undefined;
}

export interface CachedKey extends KeyRecord {
  /** Access by `permissions`. */
  mayUse: ModelAccess;
}

/** Where the cache reads keys: the database, or the process that has it. */
export interface KeySource {
  readonly kind: Database["kind"];
  /** Changes with every change of accounts. */
  readVersion(): Promise<number>;
  /** Loads keys by hash, and those of console sessions by the hash of their token; omits keys that do not work. */
  load(hashes: readonly string[]): Promise<ReadonlyMap<string, KeyRecord>>;
}

export function keysIn(database: Database): KeySource {
  return {
    kind: database.kind,
    readVersion: () => database.run(readAccountsVersion),
    load: (hashes) => loadKeyRecords(database, hashes),
  };
}

export function toCachedKey(record: KeyRecord): CachedKey {
  return { ...record, mayUse: modelAccess(record.permissions) };
}

async function loadKeyRecords(database: Database, hashes: readonly string[]): Promise<ReadonlyMap<string, KeyRecord>> {
  return database.run(async (executor) => {
    const sent = await findActiveApiKeys(executor, hashes);
    const foundHashes = new Set(sent.map(({ keyHash }) => keyHash));
    const others = hashes.filter((hash) => !foundHashes.has(hash));
    const sessions = [...(await findGrantedApiKeys(executor, others)), ...(await findSessionKeys(executor, others))];
    const active = [...sent, ...sessions];
    const accessOf = await findAccessOf(executor, active);
    const keys = active.filter((key) => mayWork(key, accessOf));
    const scopeIds = new Set(keys.flatMap((key) => [key.organizationId, key.projectId ?? key.organizationId]));
    const permissions = await findModelPermissionsOf(executor, [...scopeIds]);
    const projectIds = new Set(keys.flatMap((key) => key.projectId ?? []));
    const rateLimits = await findRateLimitsOf(executor, [...projectIds]);
    const policies = await findModerationPoliciesOf(executor, [...projectIds]);
    const guardrails = await findGuardrailsOf(executor, [...projectIds]);
    const rules = await findKeyRulesOf(executor, [
      ...new Set(keys.flatMap(({ userId, projectId }) => (userId === null ? [] : (projectId ?? [])))),
    ]);
    const rulesFor = ({ userId, projectId }: ActiveApiKeyRow) =>
      userId === null ? undefined : rules.get(projectId ?? "");
    const recordings = await findRecordingsOf(executor, [...projectIds]);
    const spendLimits = await findSpendLimitsOf(executor, [...scopeIds, ...keys.map(({ id }) => id)]);
    const budgets = await findBudgetsOf(executor, [...new Set(keys.map(({ organizationId }) => organizationId))]);
    return new Map(
      keys.map((key) => [
        key.keyHash,
        {
          caller: {
            keyId: key.id,
            organizationId: key.organizationId,
            projectId: key.projectId ?? undefined,
            kind: key.kind === "project" ? "project" : "admin",
            ...(key.kind === "operator" && { isOperator: true }),
            ...(key.userId !== null && { userId: key.userId, access: accessOf.get(key.userId) }),
            ...(key.kind === "restricted" && { access: restrictedAccess(key, accessOf) }),
          },
          expiresAt: key.expiresAt ?? undefined,
          renewAt: key.renewAt,
          permissions: [
            ...permissions
              .filter(({ scopeId }) => scopeId === key.organizationId || scopeId === key.projectId)
              .map(toModelPermissions),
            ...permissionsByRules(rulesFor(key)),
          ],
          spendLimits: [
            ...spendLimits.filter(({ scopeId }) => [key.id, key.organizationId, key.projectId].includes(scopeId)),
            ...spendLimitsByRules(rulesFor(key), key),
          ],
          budgets: budgetsOfKey(budgets, key),
          rateLimits: rateLimits.filter(({ projectId }) => projectId === key.projectId),
          moderation: policies.filter(({ projectId }) => projectId === key.projectId).map(toProjectModeration)[0],
          guardrails: guardrails.filter(({ projectId }) => projectId === key.projectId).flatMap(toGuardrails),
          recording: recordings.filter(({ projectId }) => projectId === key.projectId).map(toRecordingPolicy)[0],
        },
      ]),
    );
  });
}

/** Permissions of the users to whom the keys belong, by user ID. */
async function findAccessOf(
  executor: Executor,
  keys: readonly ActiveApiKeyRow[],
): Promise<ReadonlyMap<string, Access>> {
  const users = await findUsersByIds(executor, [...new Set(keys.flatMap(({ userId }) => userId ?? []))]);
  return findAccess(
    executor,
    users.map((user) => ({ user })),
  );
}

/** A user's key calls models only while the user may do so in its project. */
function mayWork({ userId, projectId }: ActiveApiKeyRow, accessOf: ReadonlyMap<string, Access>): boolean {
  if (userId === null) return true;
  const access = accessOf.get(userId);
  return access !== undefined && (projectId === null || allows(access, "project.inference", projectId));
}

/** What a restricted admin key allows: its permissions, of a user's key those that the user has. */
function restrictedAccess({ userId, permissions }: ActiveApiKeyRow, accessOf: ReadonlyMap<string, Access>): Access {
  const organization = toPermissions(permissions ?? "[]");
  return userId === null
    ? { organization, projects: {} }
    : restrictAccess(accessOf.get(userId) ?? { organization: [], projects: {} }, organization);
}

export function toModelPermissions(row: ModelPermissionsRow): ModelPermissions {
  return { mode: row.mode, modelIds: JSON.parse(row.modelIds) };
}
