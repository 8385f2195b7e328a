/** Users and groups of projects, with their names. */

import type { Executor } from "../../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../../storage/page.ts";

export interface ProjectUserEntry {
  /** ID of the user. */
  id: string;
  name: string;
  email: string;
  roleId: string;
  addedAt: number;
}

export interface ProjectGroupEntry {
  /** ID of the group. */
  id: string;
  name: string;
  roleId: string;
  addedAt: number;
  projectId: string;
}

export async function listProjectUsers(
  executor: Executor,
  projectId: string,
  request: PageRequest,
): Promise<Page<ProjectUserEntry>> {
  return readPage(request, "addedAt", usersOf(executor, projectId));
}

export async function findProjectMember(
  executor: Executor,
  projectId: string,
  userId: string,
): Promise<ProjectUserEntry | undefined> {
  return usersOf(executor, projectId).where("id", "=", userId).executeTakeFirst();
}

export async function listProjectGroups(
  executor: Executor,
  projectId: string,
  request: PageRequest,
): Promise<Page<ProjectGroupEntry>> {
  return readPage(request, "addedAt", groupsOf(executor, projectId));
}

export async function findProjectMemberGroup(
  executor: Executor,
  projectId: string,
  groupId: string,
): Promise<ProjectGroupEntry | undefined> {
  return groupsOf(executor, projectId).where("id", "=", groupId).executeTakeFirst();
}

/** Members as one table, whose columns a page can refer to. */
function usersOf(executor: Executor, projectId: string) {
  const members = executor
    .selectFrom("projectUsers as membership")
    .innerJoin("users as user", "user.id", "membership.userId")
    .select(["user.id", "user.name", "user.email", "membership.roleId", "membership.addedAt"])
    .where("membership.projectId", "=", projectId);
  return executor.selectFrom(members.as("member")).selectAll();
}

function groupsOf(executor: Executor, projectId: string) {
  const members = executor
    .selectFrom("projectGroups as membership")
    .innerJoin("groups as group", "group.id", "membership.groupId")
    .select(["group.id", "group.name", "membership.roleId", "membership.addedAt", "membership.projectId"])
    .where("membership.projectId", "=", projectId);
  return executor.selectFrom(members.as("member")).selectAll();
}
