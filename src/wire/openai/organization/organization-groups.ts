/** Groups, their members, and groups of projects. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type {
  Group as GroupAnswer,
  GroupMember,
  GroupUser,
  ProjectGroup as ProjectGroupAnswer,
  UpdatedGroup,
} from "../../openapi/people-answers.ts";
import { queryNumber, toSeconds } from "./organization-list.ts";

/** Largest page of lists that have a cursor `next`. */
const MAX_LIMIT = 1_000;

/** Pagination parameters of lists that have a cursor `next`. */
export function cursorQuery({ limit, order }: { limit: number; order: "asc" | "desc" }) {
  return {
    after: z.string().min(1).optional(),
    limit: queryNumber(z.int().min(0).max(MAX_LIMIT)).default(limit),
    order: z.enum(["asc", "desc"]).default(order),
  };
}

export const GroupBody = named("GroupBody", z.strictObject({ name: z.string() }));
export const GroupListQuery = z.strictObject(cursorQuery({ limit: 100, order: "asc" }));
export const GroupUserBody = named("GroupUserBody", z.strictObject({ user_id: z.string() }));
export const GroupUserListQuery = z.strictObject(cursorQuery({ limit: 100, order: "desc" }));
export const ProjectGroupBody = named(
  "ProjectGroupBody",
  lazy.strictObject(() => ({
    group_id: z.string(),
    role: z.string().describe("ID or name of a role of the project."),
  })),
);
export const ProjectGroupListQuery = lazy.strictObject(() => ({
  ...cursorQuery({ limit: 20, order: "asc" }),
  limit: queryNumber(z.int().min(0).max(100)).default(20),
}));
export const ProjectGroupQuery = lazy.strictObject(() => ({
  group_type: z.enum(["group", "tenant_group"]).default("group"),
}));

/** Page with the cursor of the next one: the ID of the last entry, unless `idOf` names another. */
export function toCursorBody<Entry, Shown>(
  page: { entries: readonly Entry[]; hasMore: boolean },
  toShown: (entry: Entry) => Shown,
  idOf: (entry: Entry) => string,
) {
  const last = page.entries.at(-1);
  return {
    object: "list" as const,
    data: page.entries.map(toShown),
    has_more: page.hasMore,
    next: page.hasMore && last !== undefined ? idOf(last) : null,
  };
}

interface ShownGroup {
  id: string;
  name: string;
  createdAt: number;
  isScimManaged: number;
}

export function toUpdatedGroup({ id, name, createdAt, isScimManaged }: ShownGroup): AnswerOf<typeof UpdatedGroup> {
  return { id, name, created_at: toSeconds(createdAt), is_scim_managed: isScimManaged === 1 };
}

export function toGroup(group: ShownGroup): AnswerOf<typeof GroupAnswer> {
  return { ...toUpdatedGroup(group), group_type: "group" };
}

export function toGroupUser({
  id,
  name,
  email,
}: {
  id: string;
  name: string;
  email: string;
}): AnswerOf<typeof GroupUser> {
  return { id, name, email };
}

export function toGroupMember(user: { id: string; name: string; email: string }): AnswerOf<typeof GroupMember> {
  return { ...toGroupUser(user), picture: null, is_service_account: false, user_type: "user" };
}

export function toProjectGroup(group: {
  id: string;
  name: string;
  projectId: string;
  role: string;
  addedAt: number;
}): AnswerOf<typeof ProjectGroupAnswer> {
  return {
    object: "project.group",
    project_id: group.projectId,
    group_id: group.id,
    group_name: group.name,
    group_type: "group",
    role: group.role,
    created_at: toSeconds(group.addedAt),
  };
}
