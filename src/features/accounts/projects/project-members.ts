/** Users and groups of a project, each with a role. */

import { allows, isSelf } from "../../../http/access.ts";
import { Fault, invalidRequest } from "../../../kernel/faults.ts";
import type { Executor } from "../../../storage/database.ts";
import type { Page, PageRequest } from "../../../storage/page.ts";
import type { AccountTransaction, AccountTransactions } from "../account-transaction.ts";
import type { GroupReference } from "../groups/group-queries.ts";
import { findExistingGroup, refuseProviderGroup } from "../groups/groups.ts";
import { revokeApiKeysOfUser } from "../keys/api-key-queries.ts";
import type { GroupRow, UserRow } from "../people-rows.ts";
import { builtInRole } from "../roles/built-in-roles.ts";
import { findAccess, toPermissions } from "../roles/find-access.ts";
import { findRoleIn, type Role } from "../roles/find-role.ts";
import { type Author, checkMayGrant } from "../roles/may-grant.ts";
import { putMembership, takeRoles } from "../roles/role-changes.ts";
import { withRoleNames } from "../roles/role-names.ts";
import { findProjectGroup, findProjectUser, findRolesByIds } from "../roles/role-queries.ts";
import { findUser, findUserByEmail } from "../users/user-queries.ts";
import {
  findProjectMember,
  findProjectMemberGroup,
  listProjectGroups,
  listProjectUsers,
  type ProjectGroupEntry,
  type ProjectUserEntry,
} from "./project-member-queries.ts";
import type { ProjectReference } from "./project-queries.ts";
import { findActiveProject, findExistingProject, type Project } from "./projects.ts";

export type ProjectUser = ProjectUserEntry & { role: string };
export type ProjectGroup = ProjectGroupEntry & { role: string };

export class ProjectMembers {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /** Throws a Fault when the project does not exist. */
  async listUsers(project: ProjectReference, request: PageRequest): Promise<Page<ProjectUser>> {
    return this.#transactions.database.run(async (executor) => {
      await findExistingProject(executor, project);
      return withRoles(executor, await listProjectUsers(executor, project.id, request));
    });
  }

  /** Throws a Fault when the user is not in the project. */
  async retrieveUser(project: ProjectReference, userId: string): Promise<ProjectUser> {
    return this.#transactions.database.run((executor) => findMember(executor, project, userId));
  }

  /** Adds a user by ID or address. Throws a Fault for a member, and for a role with more than the author has. */
  async addUser(
    author: Author,
    reference: ProjectReference,
    user: { id?: string | undefined; email?: string | undefined },
    roleIdOrName: string,
  ): Promise<ProjectUser> {
    return this.#transactions.run(author, async (transaction) => {
      const { executor } = transaction;
      const project = await findActiveProject(executor, reference);
      const row = await findUserToAdd(executor, reference.organizationId, user);
      if ((await findProjectUser(executor, project.id, row.id)) !== undefined) {
        throw new Fault("conflict", `The user \`${row.id}\` is in the project already. Change the role instead.`);
      }
      await setUserRole(transaction, author, project, row, roleIdOrName);
      return findMember(executor, reference, row.id);
    });
  }

  /** Changes the role of a member. Throws a Fault as `addUser`. */
  async updateUser(
    author: Author,
    reference: ProjectReference,
    userId: string,
    roleIdOrName: string,
  ): Promise<ProjectUser> {
    return this.#transactions.run(author, async (transaction) => {
      const { executor } = transaction;
      const project = await findActiveProject(executor, reference);
      const member = await findMember(executor, reference, userId);
      checkMayGrant(author, await permissionsOf(executor, member.roleId), project.id);
      await setUserRole(transaction, author, project, member, roleIdOrName);
      return findMember(executor, reference, userId);
    });
  }

  /**
   * Removes a member with all roles in the project, and revokes the user's keys of the project unless a group still gives
   * access. Throws a Fault when the author does not have the permissions of these roles, unless that is the member.
   */
  async removeUser(author: Author, reference: ProjectReference, userId: string): Promise<void> {
    await this.#transactions.run(author, async (transaction) => {
      const { executor, now } = transaction;
      const project = await findActiveProject(executor, reference);
      await findMember(executor, reference, userId);
      const scope = { organizationId: reference.organizationId, projectId: project.id };
      const checked = isSelf(author, userId) ? "checked" : author;
      await takeRoles(transaction, scope, { type: "user", id: userId }, checked);
      const user = await findUser(executor, { organizationId: reference.organizationId, id: userId });
      const access = user && (await findAccess(executor, [{ user: { ...user, disabledAt: null } }])).get(userId);
      if (access === undefined || !allows(access, "project.inference", project.id)) {
        await revokeApiKeysOfUser(executor, userId, now, project.id);
      }
    });
  }

  /** Throws a Fault when the project does not exist. */
  async listGroups(project: ProjectReference, request: PageRequest): Promise<Page<ProjectGroup>> {
    return this.#transactions.database.run(async (executor) => {
      await findExistingProject(executor, project);
      return withRoles(executor, await listProjectGroups(executor, project.id, request));
    });
  }

  /** Throws a Fault when the group is not in the project. */
  async retrieveGroup(project: ProjectReference, groupId: string): Promise<ProjectGroup> {
    return this.#transactions.database.run((executor) => findMemberGroup(executor, project, groupId));
  }

  /** Adds a group or changes its role. Throws a Fault for a role with more than the author has. */
  async putGroup(
    author: Author,
    reference: ProjectReference,
    groupId: string,
    roleIdOrName: string,
  ): Promise<ProjectGroup> {
    return this.#transactions.run(author, async (transaction) => {
      const { executor } = transaction;
      const project = await findActiveProject(executor, reference);
      const { organizationId } = reference;
      const group: GroupRow = await findExistingGroup(executor, {
        organizationId,
        id: groupId,
      } satisfies GroupReference);
      refuseProviderGroup(group);
      const existing = await findProjectGroup(executor, project.id, groupId);
      if (existing !== undefined) {
        checkMayGrant(author, await permissionsOf(executor, existing.roleId), project.id);
      }
      const role = await findRoleIn(executor, { organizationId, projectId: project.id }, roleIdOrName);
      checkMayGrant(author, role.permissions, project.id);
      await putMembership(transaction, project, { type: "group", id: group.id }, role.id);
      return findMemberGroup(executor, reference, groupId);
    });
  }

  /** Removes a group with all roles in the project. Throws a Fault as `removeUser`, and for a provider's group. */
  async removeGroup(author: Author, reference: ProjectReference, groupId: string): Promise<void> {
    await this.#transactions.run(author, async (transaction) => {
      const { executor } = transaction;
      const { organizationId } = reference;
      const { id: projectId } = await findActiveProject(executor, reference);
      await findMemberGroup(executor, reference, groupId);
      refuseProviderGroup(await findExistingGroup(executor, { organizationId, id: groupId }));
      await takeRoles(transaction, { organizationId, projectId }, { type: "group", id: groupId }, author);
    });
  }
}

/** Sets the role of a user in a project. Throws a Fault for a role with more than the author has. */
export async function setUserRole(
  transaction: AccountTransaction,
  author: Author,
  project: Project,
  user: Pick<UserRow, "id">,
  roleIdOrName: string,
): Promise<Role> {
  const { organizationId, id: projectId } = project;
  const role = await findRoleIn(transaction.executor, { organizationId, projectId }, roleIdOrName);
  checkMayGrant(author, role.permissions, projectId);
  await putMembership(transaction, project, { type: "user", id: user.id }, role.id);
  return role;
}

async function findUserToAdd(
  executor: Executor,
  organizationId: string,
  { id, email }: { id?: string | undefined; email?: string | undefined },
): Promise<UserRow> {
  if ((id === undefined) === (email === undefined)) {
    throw invalidRequest("Name the user by exactly one of 'user_id' and 'email'.", "user_id", "invalid_value");
  }
  const user =
    id === undefined
      ? await findUserByEmail(executor, organizationId, email ?? "")
      : await findUser(executor, { organizationId, id });
  if (user !== undefined) return user;
  const name = (id ?? email ?? "").slice(0, 100);
  throw new Fault("not-found", `The organization has no user \`${name}\`. Invite the person first.`);
}

async function findMember(executor: Executor, project: ProjectReference, userId: string): Promise<ProjectUser> {
  await findExistingProject(executor, project);
  const member = await findProjectMember(executor, project.id, userId);
  if (member === undefined) {
    throw new Fault("not-found", `The user \`${userId.slice(0, 100)}\` is not in the project \`${project.id}\`.`);
  }
  return withRoleName(executor, member);
}

async function findMemberGroup(executor: Executor, project: ProjectReference, groupId: string): Promise<ProjectGroup> {
  await findExistingProject(executor, project);
  const group = await findProjectMemberGroup(executor, project.id, groupId);
  if (group === undefined) {
    throw new Fault("not-found", `The group \`${groupId.slice(0, 100)}\` is not in the project \`${project.id}\`.`);
  }
  return withRoleName(executor, group);
}

async function permissionsOf(executor: Executor, roleId: string) {
  const builtIn = builtInRole(roleId);
  if (builtIn !== undefined) return builtIn.permissions;
  const [row] = await findRolesByIds(executor, [roleId]);
  return row === undefined ? [] : toPermissions(row.permissions);
}

async function withRoleName<Entry extends { roleId: string }>(executor: Executor, entry: Entry) {
  const [named] = await withRoleNames(executor, [entry]);
  return named as Entry & { role: string };
}

async function withRoles<Entry extends { roleId: string }>(executor: Executor, page: Page<Entry>) {
  return { ...page, entries: await withRoleNames(executor, page.entries) };
}
