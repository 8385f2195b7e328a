/** Answers about users, invites, groups and roles. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOfEntries } from "./list-answers.ts";
import { memberOf, named, names } from "./named.ts";

const seconds = z.int();
const secondsOrNull = z.int().nullable();

/** A page of a list of named entries, with the cursor of the next one. */
function pageOf<Entry extends z.ZodType>(entry: Entry) {
  return memberOf(`${names.get(entry)?.id}List`, () =>
    lazy.object(() => ({
      object: z.literal("list"),
      data: z.array(entry),
      has_more: z.boolean(),
      next: z.string().nullable(),
    })),
  );
}

export const User = named(
  "User",
  lazy.object(() => ({
    object: z.literal("organization.user"),
    id: z.string(),
    name: z.string(),
    email: z.string(),
    role: z.enum(["owner", "member", "reader"]),
    added_at: seconds,
    created: seconds,
    disabled_at: secondsOrNull.describe("When the user was disabled. Not in OpenAI's API."),
    last_active_at: secondsOrNull.describe("Last request with a session or key. Not in OpenAI's API."),
    api_key_last_used_at: secondsOrNull,
    is_default: z.boolean(),
    is_scim_managed: z.boolean(),
    is_service_account: z.literal(false),
    is_scale_tier_authorized_purchaser: z.null(),
    technical_level: z.null(),
    developer_persona: z.null(),
    projects: z.object({
      object: z.literal("list"),
      data: z.array(z.object({ id: z.string(), name: z.string(), role: z.string() })),
    }),
    user: z.object({
      object: z.literal("user"),
      id: z.string(),
      email: z.string(),
      name: z.string(),
      picture: z.null(),
      enabled: z.boolean(),
      banned: z.boolean(),
      banned_at: z.null(),
    }),
  })),
);
export const UserList = listOfEntries(User);

const reference = lazy.object(() => ({ id: z.string(), name: z.string() }));

export const UserAccess = named(
  "UserAccess",
  lazy.object(() => ({
    object: z.literal("organization.user.access"),
    user_id: z.string(),
    roles: z.array(
      z.object({
        role: reference,
        project: reference.nullable().describe("Project in which the role applies; null: the organization."),
        group: reference.nullable().describe("Group from which the role comes; null: the user has it."),
        permissions: z.array(z.string()),
      }),
    ),
  })),
);

export const PersonalDataLine = named(
  "PersonalDataLine",
  z.union([
    z.object({ record: z.literal("export"), created_at: z.string().describe("ISO 8601.") }),
    z.object({
      record: z.literal("end"),
      rows: z.int().describe("Number of rows: an export without it is incomplete."),
    }),
    z
      .looseObject({ record: z.string().describe("Table of the row.") })
      .describe(
        "A row; its other fields are the columns. Of a text that others wrote, the passages that name the person, as a list.",
      ),
  ]),
);

export const Erasure = named(
  "Erasure",
  lazy.object(() => ({
    object: z.literal("organization.user.erasure"),
    erased: z.literal(true),
    pseudonym: z.string().describe("Stands in place of the person where rows remain, such as sums of usage."),
    rows: z.record(z.string(), z.int()).describe("Rows that were deleted or changed, by table."),
  })),
);

export const Invite = named(
  "Invite",
  lazy.object(() => ({
    object: z.literal("organization.invite"),
    id: z.string(),
    email: z.string(),
    role: z.enum(["owner", "member", "reader"]),
    status: z.enum(["accepted", "expired", "pending"]),
    created_at: seconds,
    expires_at: seconds,
    accepted_at: secondsOrNull,
    projects: z.array(z.object({ id: z.string(), role: z.string() })),
  })),
);
export const InviteList = listOfEntries(Invite);
export const CreatedInvite = named(
  "CreatedInvite",
  lazy.object(() => ({
    ...Invite.shape,
    token: z.string().describe("Accepts the invite, once. It is shown only in this answer. Not in OpenAI's API."),
  })),
);

export const ProjectUser = named(
  "ProjectUser",
  lazy.object(() => ({
    object: z.literal("organization.project.user"),
    id: z.string(),
    name: z.string(),
    email: z.string(),
    role: z.string(),
    added_at: seconds,
  })),
);
export const ProjectUserList = listOfEntries(ProjectUser);

const GROUP = { id: z.string(), name: z.string(), created_at: seconds, is_scim_managed: z.boolean() };
export const Group = named("Group", z.object({ ...GROUP, group_type: z.literal("group") }));
export const GroupList = pageOf(Group);
export const UpdatedGroup = named("UpdatedGroup", z.object(GROUP));

export const GroupUser = named(
  "GroupUser",
  lazy.object(() => ({ id: z.string(), name: z.string(), email: z.string() })),
);
export const GroupUserList = pageOf(GroupUser);
export const GroupMember = named(
  "GroupMember",
  lazy.object(() => ({
    ...GroupUser.shape,
    picture: z.null(),
    is_service_account: z.literal(false),
    user_type: z.literal("user"),
  })),
);
export const AddedGroupUser = named(
  "AddedGroupUser",
  lazy.object(() => ({
    object: z.literal("group.user"),
    user_id: z.string(),
    group_id: z.string(),
  })),
);

export const ProjectGroup = named(
  "ProjectGroup",
  lazy.object(() => ({
    object: z.literal("project.group"),
    project_id: z.string(),
    group_id: z.string(),
    group_name: z.string(),
    group_type: z.literal("group"),
    role: z.string().describe("Name of the group's role in the project. Not in OpenAI's API."),
    created_at: seconds,
  })),
);
export const ProjectGroupList = pageOf(ProjectGroup);

const ROLE = {
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  permissions: z.array(z.string()),
  predefined_role: z.boolean(),
  resource_type: z.enum(["api.organization", "api.project"]),
};
export const Role = named("Role", z.object({ object: z.literal("role"), ...ROLE }));
export const RoleList = pageOf(Role);

export const AssignedRole = named(
  "AssignedRole",
  lazy.object(() => ({
    ...ROLE,
    created_at: secondsOrNull,
    updated_at: secondsOrNull,
    created_by: z.string().nullable(),
    created_by_user_obj: z.null(),
    metadata: z.null(),
    assignment_sources: z.array(z.object({ principal_id: z.string(), principal_type: z.enum(["user", "group"]) })),
  })),
);
export const AssignedRoleList = pageOf(AssignedRole);

export const UserRole = named("UserRole", z.object({ object: z.literal("user.role"), user: User, role: Role }));
export const GroupRole = named(
  "GroupRole",
  lazy.object(() => ({
    object: z.literal("group.role"),
    group: z.object({
      object: z.literal("group"),
      id: z.string(),
      name: z.string(),
      created_at: seconds,
      scim_managed: z.boolean(),
    }),
    role: Role,
  })),
);
