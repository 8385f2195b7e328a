/**
 * The key with which a person calls models in a project without an API key: in the console, or with a token of a trusted
 * issuer. It attributes usage and carries limits; nobody can send it.
 */

import { allows } from "../../http/access.ts";
import type { Executor } from "../../storage/database.ts";
import {
  type AccountTransaction,
  findAccess,
  findApiKeyByHash,
  restoreApiKey,
  storeApiKey,
  type UserRow,
} from "../accounts/index.ts";

const NAME = "Signed in";
const REDACTED_VALUE = "no key";

type Owner = Pick<UserRow, "id" | "organizationId" | "role" | "name" | "disabledAt">;

/** No header has this hash. */
export function signOnKeyHash(principalId: string, projectId: string): string {
  return `sign-on ${principalId} ${projectId}`;
}

const USER = "sign-on user ";

/** Hash by which the key cache finds a user on routes of the organization. No header has it. */
export function signedInUserHash(userId: string): string {
  return USER + userId;
}

/** Returns the users whom hashes of this kind name. */
export function usersOfHashes(hashes: readonly string[]): string[] {
  return hashes.filter((each) => each.startsWith(USER)).map((each) => each.slice(USER.length));
}

/** Returns the ID of the key of a user or service account in a project; creates the key if it is missing. */
export async function ensureSignOnKey(
  transaction: AccountTransaction,
  owner: { organizationId: string; userId: string } | { organizationId: string; serviceAccountId: string },
  projectId: string,
): Promise<string> {
  const principalId = "userId" in owner ? owner.userId : owner.serviceAccountId;
  const keyHash = signOnKeyHash(principalId, projectId);
  const existing = await findApiKeyByHash(transaction.executor, keyHash);
  if (existing === undefined) {
    const scope = { ...owner, projectId, kind: "project" } as const;
    const stored = { keyHash, redactedValue: REDACTED_VALUE };
    return (await storeApiKey(transaction, { scope, name: NAME, expiresInSeconds: undefined }, stored)).id;
  }
  // What a person may do ends with the membership, not with this key.
  await restoreApiKey(transaction, existing);
  return existing.id;
}

/** Projects in which a user calls models, by name. */
export async function findUsableProjects(executor: Executor, user: Owner): Promise<{ id: string; name: string }[]> {
  const access = (await findAccess(executor, [{ user }])).get(user.id);
  const projects = await executor
    .selectFrom("projects")
    .select(["id", "name"])
    .where("organizationId", "=", user.organizationId)
    .where("archivedAt", "is", null)
    .orderBy("isDefault", "desc")
    .orderBy("name")
    .orderBy("id")
    .execute();
  return projects.filter(({ id }) => access !== undefined && allows(access, "project.inference", id));
}
