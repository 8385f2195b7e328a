/** Users of the organization and of projects, and invites. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { parsedListOf } from "../../../kernel/list-of.ts";
import type { Secret } from "../../../kernel/secret.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type {
  CreatedInvite,
  Invite as InviteAnswer,
  ProjectUser as ProjectUserAnswer,
  User as UserAnswer,
} from "../../openapi/people-answers.ts";
import { EXPIRES_IN_SECONDS } from "./organization-api-keys.ts";
import { PAGE_QUERY, toSeconds, toSecondsOrNull } from "./organization-list.ts";

const ROLE = z.enum(["owner", "member", "reader"]);
const MAX_EMAILS = 100;
const emails = z.preprocess(
  (value) => (typeof value === "string" ? [value] : value),
  z.array(z.string()).max(MAX_EMAILS).optional(),
);

export const UserListQuery = lazy.strictObject(() => ({
  ...PAGE_QUERY,
  emails,
  "emails[]": emails,
  search: z.string().max(200).optional().describe("Part of the name or address. Not in OpenAI's API."),
}));

const NOT_STORED = z.null({ error: "this service does not store it; leave it out" }).optional();

export const UserUpdateBody = named(
  "UserUpdateBody",
  lazy.strictObject(() => ({
    role: ROLE.nullish(),
    role_id: z.string().nullish().describe("ID of a built-in role of the organization, in place of `role`."),
    name: z.string().optional().describe("Not in OpenAI's API."),
    disabled: z.boolean().optional().describe("True: sessions and keys of the user do not work. Not in OpenAI's API."),
    technical_level: NOT_STORED,
    developer_persona: NOT_STORED,
  })),
);

export const InviteCreateBody = named(
  "InviteCreateBody",
  lazy.strictObject(() => ({
    email: z.string(),
    role: ROLE,
    projects: parsedListOf(
      z.strictObject({ id: z.string(), role: z.string().describe("ID or name of a role of the project.") }),
    ).optional(),
    expires_in_seconds: EXPIRES_IN_SECONDS.optional().describe("Default: seven days. Not in OpenAI's API."),
  })),
);
export const InviteListQuery = z.strictObject(PAGE_QUERY);

export const ProjectUserCreateBody = named(
  "ProjectUserCreateBody",
  lazy.strictObject(() => ({
    user_id: z.string().nullish(),
    email: z.string().nullish(),
    role: z.string().describe("ID or name of a role of the project."),
  })),
);
export const ProjectUserUpdateBody = named(
  "ProjectUserUpdateBody",
  lazy.strictObject(() => ({ role: z.string().nullish() })),
);
export const ProjectUserListQuery = z.strictObject(PAGE_QUERY);

export interface ShownUser {
  id: string;
  email: string;
  name: string;
  role: "owner" | "member" | "reader";
  addedAt: number;
  disabledAt: number | null;
  lastActiveAt: number | null;
  isScimManaged: number;
  keyLastUsedAt: number | null;
  projects: readonly { id: string; name: string; role: string }[];
}

export function toUser(user: ShownUser): AnswerOf<typeof UserAnswer> {
  const { id, email, name } = user;
  return {
    object: "organization.user",
    id,
    name,
    email,
    role: user.role,
    added_at: toSeconds(user.addedAt),
    created: toSeconds(user.addedAt),
    disabled_at: toSecondsOrNull(user.disabledAt),
    last_active_at: toSecondsOrNull(user.lastActiveAt),
    api_key_last_used_at: toSecondsOrNull(user.keyLastUsedAt),
    is_default: false,
    is_scim_managed: user.isScimManaged === 1,
    is_service_account: false,
    is_scale_tier_authorized_purchaser: null,
    technical_level: null,
    developer_persona: null,
    projects: { object: "list", data: user.projects.map(({ id, name, role }) => ({ id, name, role })) },
    user: {
      object: "user",
      id,
      email,
      name,
      picture: null,
      enabled: user.disabledAt === null,
      banned: false,
      banned_at: null,
    },
  };
}

interface ShownInvite {
  id: string;
  email: string;
  role: "owner" | "member" | "reader";
  createdAt: number;
  expiresAt: number;
  acceptedAt: number | null;
  projects: readonly { id: string; role: string }[];
}

export function toInvite(invite: ShownInvite, now: number): AnswerOf<typeof InviteAnswer> {
  const { id, email, role, acceptedAt, expiresAt } = invite;
  const open = expiresAt > now ? "pending" : "expired";
  return {
    object: "organization.invite",
    id,
    email,
    role,
    status: acceptedAt === null ? open : "accepted",
    created_at: toSeconds(invite.createdAt),
    expires_at: toSeconds(expiresAt),
    accepted_at: toSecondsOrNull(acceptedAt),
    projects: invite.projects.map(({ id, role }) => ({ id, role })),
  };
}

export function toCreatedInvite(invite: ShownInvite, token: Secret, now: number): AnswerOf<typeof CreatedInvite> {
  return { ...toInvite(invite, now), token: token.reveal() };
}

export function toProjectUser(user: {
  id: string;
  name: string;
  email: string;
  role: string;
  addedAt: number;
}): AnswerOf<typeof ProjectUserAnswer> {
  const { id, name, email, role } = user;
  return { object: "organization.project.user", id, name, email, role, added_at: toSeconds(user.addedAt) };
}
