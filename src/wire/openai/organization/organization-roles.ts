/** Roles and their assignments. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf } from "../../../kernel/list-of.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type { AssignedRole, GroupRole, Role as RoleAnswer } from "../../openapi/people-answers.ts";
import { cursorQuery } from "./organization-groups.ts";
import { toSeconds, toSecondsOrNull } from "./organization-list.ts";

const permissions = listOf(z.string()).max(100);

export const RoleCreateBody = named(
  "RoleCreateBody",
  lazy.strictObject(() => ({
    role_name: z.string(),
    permissions,
    description: z.string().nullish(),
  })),
);
export const RoleUpdateBody = named(
  "RoleUpdateBody",
  lazy.strictObject(() => ({
    role_name: z.string().nullish(),
    permissions: permissions.nullish(),
    description: z.string().nullish(),
  })),
);
export const RoleListQuery = z.strictObject(cursorQuery({ limit: 1_000, order: "asc" }));
export const AssignRoleBody = named("AssignRoleBody", z.strictObject({ role_id: z.string() }));

export interface ShownRole {
  id: string;
  name: string;
  description: string | null;
  permissions: readonly string[];
  isBuiltIn: boolean;
  isOfProject: boolean;
  /** Null for a built-in role. */
  createdAt: number | null;
  updatedAt: number | null;
  createdBy: string | null;
}

function common({ id, name, description, permissions, isBuiltIn, isOfProject }: ShownRole) {
  return {
    id,
    name,
    description,
    permissions: [...permissions],
    predefined_role: isBuiltIn,
    resource_type: isOfProject ? ("api.project" as const) : ("api.organization" as const),
  };
}

export function toRole(role: ShownRole): AnswerOf<typeof RoleAnswer> {
  return { object: "role", ...common(role) };
}

export function toAssignedRole({
  role,
  sources,
}: {
  role: ShownRole;
  sources: readonly { type: "user" | "group"; id: string }[];
}): AnswerOf<typeof AssignedRole> {
  return {
    ...common(role),
    created_at: toSecondsOrNull(role.createdAt),
    updated_at: toSecondsOrNull(role.updatedAt),
    created_by: role.createdBy,
    created_by_user_obj: null,
    metadata: null,
    assignment_sources: sources.map(({ type, id }) => ({ principal_id: id, principal_type: type })),
  };
}

export function toGroupRole(
  group: { id: string; name: string; createdAt: number; isScimManaged: number },
  role: ShownRole,
): AnswerOf<typeof GroupRole> {
  return {
    object: "group.role",
    group: {
      object: "group",
      id: group.id,
      name: group.name,
      created_at: toSeconds(group.createdAt),
      scim_managed: group.isScimManaged === 1,
    },
    role: toRole(role),
  };
}
