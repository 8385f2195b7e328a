/**
 * Decides every grant: keys, sessions, sign-in codes, passwords, roles, groups, memberships, invites, the first owner and
 * what SCIM clients change. What the result may do is within what its author may do: otherwise a right to give would be
 * every right.
 */

import type { FastifyRequest } from "fastify";
import type { Access, Caller } from "../../../contracts/caller.ts";
import { ALL_PERMISSIONS, PROJECT_KEY_PERMISSIONS, type RolePermission } from "../../../contracts/permissions.ts";
import { allows, missingPermission, restrictAccess, toAccess } from "../../../http/access.ts";
import { Fault } from "../../../kernel/faults.ts";
import type { Executor } from "../../../storage/database.ts";
import type { ApiKeyRow } from "../account-rows.ts";
import { actorOf } from "../audit/actor.ts";
import type { Actor } from "../audit/audit.ts";
import { findScimManagedIds } from "../groups/group-queries.ts";
import type { GroupRow, UserRow } from "../people-rows.ts";
import { findUsersByIds } from "../users/user-queries.ts";
import { findAuthor } from "./check-author.ts";
import { findAccess, findGrants, findGrantsOfGroup, toPermissions } from "./find-access.ts";

/** Author of a grant, with what the author may do. */
export interface Author extends Actor {
  /** Undefined: everything. */
  access: Access | undefined;
  /** True with a restricted key, which is not the user to whom it belongs. */
  isRestricted?: true | undefined;
}

export function authorOf(request: FastifyRequest): Author {
  const { access, isRestricted } = request.caller;
  return { ...actorOf(request), access, isRestricted };
}

/** Returns an actor who may do everything, such as the operator. */
export function unrestricted(actor: Actor): Author {
  return { ...actor, access: undefined };
}

/** Throws a Fault unless the author has all these permissions, in the project or, without one, the organization. */
export function checkMayGrant(
  author: Pick<Author, "access">,
  permissions: readonly RolePermission[],
  projectId: string | undefined,
): void {
  checkMayManage(
    author,
    projectId === undefined
      ? { organization: permissions, projects: {} }
      : { organization: [], projects: { [projectId]: permissions } },
  );
}

/** Throws a Fault unless the author has everything that `target` contains; undefined: nothing. */
function checkMayManage({ access }: Pick<Author, "access">, target: Access | undefined): void {
  const missing = target && missingPermission(access, target);
  if (missing === undefined) return;
  const message = `You cannot give or take the permission \`${missing}\`, because you do not have it. Ask an owner.`;
  throw new Fault("forbidden", message, { code: "insufficient_permissions" });
}

/** Throws a Fault unless the author may do everything in the organization, as sign-in codes and owners may. */
export function checkMayGrantEverything(author: Pick<Author, "access">): void {
  checkMayGrant(author, ALL_PERMISSIONS, undefined);
}

/** Whether a caller may do everything in its organization, without being a user: an admin key, or the session of one. */
export function isUnrestricted({ kind, access, userId }: Pick<Caller, "kind" | "access" | "userId">): boolean {
  return kind === "admin" && access === undefined && userId === undefined;
}

/** Throws a Fault unless the author may do everything that the user may do when enabled. */
export async function checkMayManageUser(
  executor: Executor,
  author: Pick<Author, "access">,
  user: UserRow,
): Promise<void> {
  checkMayManage(author, await findAccessOfUser(executor, user));
}

/**
 * Throws a Fault unless a SCIM client may do everything that the user may do, except for what groups allow that SCIM
 * manages: whoever gave them a role left their members to the client.
 */
export async function checkMayReachUser(
  executor: Executor,
  author: Pick<Author, "access">,
  user: UserRow,
): Promise<void> {
  const grants = (await findGrants(executor, [{ user: { ...user, disabledAt: null } }])).get(user.id) ?? [];
  const groupIds = grants.flatMap(({ source }) => (source.type === "group" ? [source.id] : []));
  const managed = await findScimManagedIds(executor, groupIds);
  checkMayManage(author, toAccess(grants.filter(({ source }) => !managed.has(source.id))));
}

/** Throws a Fault unless the author has every permission that the group gives: who joins it gets them. */
export async function checkMayManageGroup(
  executor: Executor,
  author: Pick<Author, "access">,
  group: GroupRow,
): Promise<void> {
  checkMayManage(author, toAccess(await findGrantsOfGroup(executor, group)));
}

/** Part of a key on which depends what it may do. `permissions`: of a restricted key. */
export interface KeyPowers extends Pick<ApiKeyRow, "kind"> {
  projectId?: string | null | undefined;
  userId?: string | null | undefined;
  permissions?: readonly RolePermission[] | undefined;
}

/** Reads the part of a stored key on which depends what it may do. */
export function powersOf({
  kind,
  projectId,
  userId,
  permissions,
}: Pick<ApiKeyRow, "kind" | "projectId" | "userId" | "permissions">): KeyPowers {
  const restriction = permissions == null ? {} : { permissions: toPermissions(permissions) };
  return { kind, projectId, userId, ...restriction };
}

/** Throws a Fault unless the author may do everything that the key allows. */
export async function checkMayIssueKey(
  executor: Executor,
  author: Pick<Author, "access">,
  key: KeyPowers,
): Promise<void> {
  checkMayManage(author, await accessOfKey(executor, key));
}

async function accessOfKey(executor: Executor, { projectId, userId, permissions }: KeyPowers): Promise<Access> {
  const projects = typeof projectId === "string" ? { [projectId]: PROJECT_KEY_PERMISSIONS } : {};
  const unowned: Access = {
    organization: projectId == null ? (permissions ?? ALL_PERMISSIONS) : [],
    projects,
  };
  if (userId == null) return unowned;
  const [user] = await findUsersByIds(executor, [userId]);
  const access = user === undefined ? { organization: [], projects: {} } : await findAccessOfUser(executor, user);
  if (typeof projectId !== "string") return restrictAccess(access, permissions ?? ALL_PERMISSIONS);
  const ofProject = PROJECT_KEY_PERMISSIONS.filter((permission) => allows(access, permission, projectId));
  return { organization: [], projects: { [projectId]: ofProject } };
}

/**
 * Whether the author of an earlier grant exists and may give it now, which `check` decides; it throws a Fault otherwise.
 * Whatever is used later than it is made asks this: invites, links, codes.
 */
export async function mayStillGrant(
  executor: Executor,
  organizationId: string,
  author: EarlierAuthor,
  check: (author: Pick<Author, "access">) => void | Promise<void>,
): Promise<boolean> {
  const access = await findAccessOfAuthor(executor, organizationId, author);
  if (access === "ended") return false;
  try {
    await check({ access });
    return true;
  } catch (failure) {
    if (failure instanceof Fault) return false;
    throw failure;
  }
}

/** Author of an earlier grant, at the time `now`. */
interface EarlierAuthor {
  userId: string | null;
  keyId: string | null;
  /** Session whose end ends the grant, too; undefined: the end of none does. */
  sessionId?: string | undefined;
  now: number;
}

/**
 * Returns what the author of an earlier grant may do now; undefined: everything, as the operator. A grant ends with the
 * key with which its author made it.
 */
async function findAccessOfAuthor(
  executor: Executor,
  organizationId: string,
  author: EarlierAuthor,
): Promise<Access | undefined | "ended"> {
  const current = await findAuthor(executor, author, author.now);
  if (current === undefined) return "ended";
  const { key, user } = current;
  if (key === undefined) return user && findAccessOfUser(executor, user);
  return key.organizationId === organizationId ? accessOfKey(executor, powersOf(key)) : "ended";
}

async function findAccessOfUser(executor: Executor, user: UserRow): Promise<Access> {
  const access = await findAccess(executor, [{ user: { ...user, disabledAt: null } }]);
  return access.get(user.id) ?? { organization: [], projects: {} };
}
