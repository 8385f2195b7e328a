import type { Access, Caller } from "../../../contracts/caller.ts";
import { allows, restrictAccess } from "../../../http/access.ts";
import type { Database, Executor } from "../../../storage/database.ts";
import type { ModelPermissionsRow } from "../account-rows.ts";
import { readAccountsVersion } from "../accounts-version.ts";
import type { AccountExtensions } from "../extensions.ts";
import { type ModelAccess, type ModelPermissions, modelAccess } from "../projects/model-access.ts";
import { findModelPermissionsOf } from "../projects/model-permission-queries.ts";
import { findAccess, toPermissions } from "../roles/find-access.ts";
import { findGrantedApiKeys } from "../sessions/console-grant-queries.ts";
import { findUsersByIds } from "../users/user-queries.ts";
import { type ActiveApiKeyRow, findActiveApiKeys } from "./active-api-key-queries.ts";
import { type KeyPolicies, loadPolicies } from "./key-policy.ts";
import { findKeyRulesOf, permissionsByRules } from "./key-rules.ts";

const BATCH = 500;

/** A key that works and what applies to it, as plain data. */
export interface KeyRecord extends KeyPolicies {
  caller: Caller;
  /** Epoch milliseconds. */
  expiresAt: number | undefined;
  /** For sessions that a provider renews: from when on that is due. Epoch milliseconds. */
  renewAt?: number | undefined;
  /** Permissions of the organization and the project. */
  permissions: readonly ModelPermissions[];
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

export function keysIn(database: Database, extensions: KeyExtensions): KeySource {
  return {
    kind: database.kind,
    readVersion: () => database.run(readAccountsVersion),
    load: (hashes) => loadKeyRecords(database, extensions, hashes),
  };
}

export function toCachedKey(record: KeyRecord): CachedKey {
  return { ...record, mayUse: modelAccess(record.permissions) };
}

type KeyExtensions = Pick<AccountExtensions, "policies" | "credentials">;

async function loadKeyRecords(
  database: Database,
  { policies, credentials }: KeyExtensions,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, KeyRecord>> {
  return database.run(async (executor) => {
    const sent = await findActiveApiKeys(executor, hashes);
    const foundHashes = new Set(sent.map(({ keyHash }) => keyHash));
    const others = hashes.filter((hash) => !foundHashes.has(hash));
    const active = [...sent, ...(await findGrantedApiKeys(executor, others))];
    for (const find of credentials) active.push(...(await find(executor, others)));
    const accessOf = await findAccessOf(executor, active);
    const keys = active.filter((key) => mayWork(key, accessOf));
    const scopeIds = new Set(keys.flatMap((key) => [key.organizationId, key.projectId ?? key.organizationId]));
    const permissions = await findModelPermissionsOf(executor, [...scopeIds]);
    const rules = await findKeyRulesOf(executor, [
      ...new Set(keys.flatMap(({ userId, projectId }) => (userId === null ? [] : (projectId ?? [])))),
    ]);
    const rulesFor = ({ userId, projectId }: ActiveApiKeyRow) =>
      userId === null ? undefined : rules.get(projectId ?? "");
    const policiesOf = await loadPolicies(policies, executor, keys);
    return new Map(
      keys.map((key) => [
        key.keyHash,
        {
          caller: {
            ...identityOf(key),
            ...(key.userId !== null && { access: accessOf.get(key.userId) }),
            ...(key.kind === "restricted" && { isRestricted: true, access: restrictedAccess(key, accessOf) }),
          },
          expiresAt: key.expiresAt ?? undefined,
          renewAt: key.renewAt,
          permissions: [
            ...permissions
              .filter(({ scopeId }) => scopeId === key.organizationId || scopeId === key.projectId)
              .map(toModelPermissions),
            ...permissionsByRules(rulesFor(key)),
          ],
          ...policiesOf(key),
        },
      ]),
    );
  });
}

/** Loads keys by ID as their costs count, also ended ones: they may use no model. Omits unknown ones. */
export async function loadBilledKeys(
  database: Database,
  { policies }: Pick<KeyExtensions, "policies">,
  ids: readonly string[],
): Promise<KeyRecord[]> {
  return database.run(async (executor) => {
    const records: KeyRecord[] = [];
    for (let start = 0; start < ids.length; start += BATCH) {
      const keys = await executor
        .selectFrom("apiKeys")
        .select(["id", "keyHash", "kind", "organizationId", "projectId", "expiresAt", "userId", "rootKeyId"])
        .where("id", "in", ids.slice(start, start + BATCH))
        .execute();
      const policiesOf = await loadPolicies(policies, executor, keys);
      const permissions = [{ mode: "allow_list", modelIds: [] }] as const;
      for (const key of keys) {
        records.push({ ...policiesOf(key), caller: identityOf(key), expiresAt: undefined, permissions });
      }
    }
    return records;
  });
}

function identityOf(key: Omit<ActiveApiKeyRow, "permissions">): Caller {
  return {
    keyId: key.id,
    organizationId: key.organizationId,
    projectId: key.projectId ?? undefined,
    kind: key.kind === "project" ? "project" : "admin",
    ...(key.rootKeyId != null && { rootKeyId: key.rootKeyId }),
    ...(key.kind === "operator" && { isOperator: true }),
    ...(key.userId !== null && { userId: key.userId }),
    ...(key.sessionId !== undefined && { sessionId: key.sessionId }),
  };
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
