/** Rows of users, groups, roles and invites. Times are epoch milliseconds. */

import { type PersonalData, PSEUDONYM } from "../../storage/personal-data.ts";

/** Built-in role of a user in the organization. */
export type OrganizationRole = "owner" | "member" | "reader";

export interface UserRow {
  id: string;
  organizationId: string;
  /** In lower case; one per organization. */
  email: string;
  name: string;
  role: OrganizationRole;
  addedAt: number;
  /** Null: the user may sign in, and the user's keys work. */
  disabledAt: number | null;
  /** Null: never. Written in batches. */
  lastActiveAt: number | null;
  /** 1 for a user whom a SCIM client manages. */
  isScimManaged: number;
  /** When a SCIM client disabled the user, which equals `disabledAt` until somebody else enables and disables them. */
  scimDisabledAt?: number | null;
  /** ID that the SCIM client gave. */
  externalId?: string | null;
  /** What else the SCIM client sent, a JSON object. */
  scimAttributes?: string | null;
  /** `userName` of SCIM in lower case; one per organization. */
  scimUserName?: string | null;
}

export interface GroupRow {
  id: string;
  organizationId: string;
  name: string;
  /** Name in lower case; one per organization. */
  nameKey: string;
  /** 1 for a group that a SCIM client manages. */
  isScimManaged: number;
  /** ID that the SCIM client gave. */
  externalId?: string | null;
  /** Sign-on provider whose rules alone decide members and roles; null for other groups. */
  providerId?: string | null;
  /** Name of the group at the provider; `*`: everybody who signs in with it. */
  providerGroup?: string | null;
  createdAt: number;
}

/** A user can be in a group by several sources at once. */
export interface GroupMemberRow {
  groupId: string;
  userId: string;
  /** `manual`, `scim`, or the issuer of the identity provider that named the group. */
  source: string;
  createdAt: number;
}

export interface ProjectUserRow {
  projectId: string;
  userId: string;
  /** A role of projects: built in, or of this project. */
  roleId: string;
  addedAt: number;
}

export interface ProjectGroupRow {
  projectId: string;
  groupId: string;
  roleId: string;
  addedAt: number;
}

/** Custom role. */
export interface RoleRow {
  id: string;
  organizationId: string;
  /** The organization or project in which the role can be assigned. */
  scopeId: string;
  name: string;
  /** Name in lower case; one per scope. */
  nameKey: string;
  description: string | null;
  /** A JSON array of permissions. */
  permissions: string;
  /** User who created it; null: an admin key. */
  createdBy: string | null;
  createdAt: number;
  updatedAt: number;
}

/** Role of a user or group, in addition to the one of its membership. */
export interface RoleAssignmentRow {
  organizationId: string;
  /** The organization or project. */
  scopeId: string;
  /** The user or group. */
  principalId: string;
  roleId: string;
  createdAt: number;
}

export interface InviteRow {
  id: string;
  organizationId: string;
  /** In lower case. */
  email: string;
  role: OrganizationRole;
  /** JSON array of `{ id, roleId }`. */
  projects: string;
  /** SHA-256 in hexadecimal. */
  tokenHash: string;
  /** User who invited; null: an admin key without a user. */
  invitedBy: string | null;
  /** Admin key that invited; null: a session, or the operator. */
  invitedByKey?: string | null;
  createdAt: number;
  expiresAt: number;
  acceptedAt: number | null;
  /** User who accepted it. */
  userId: string | null;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    users: UserRow;
    groups: GroupRow;
    groupMembers: GroupMemberRow;
    projectUsers: ProjectUserRow;
    projectGroups: ProjectGroupRow;
    roles: RoleRow;
    roleAssignments: RoleAssignmentRow;
    invites: InviteRow;
  }
}

export const peopleData = {
  groups: {
    reason: "Names of resources; persons are in other tables.",
    texts: { columns: { name: "prose", nameKey: "prose" }, within: "organizationId" },
    impersonal: { providerGroup: "Name that the provider has." },
  },
  groupMembers: { rows: [{ by: { userId: "user" }, erase: "delete" }] },
  projectUsers: { rows: [{ by: { userId: "user" }, erase: "delete" }] },
  projectGroups: { reason: "Groups of projects." },
  roleAssignments: { rows: [{ by: { principalId: "user" }, erase: "delete" }] },
  roles: {
    rows: [{ by: { createdBy: "user" }, erase: { createdBy: PSEUDONYM } }],
    texts: {
      columns: { name: "prose", nameKey: "prose", description: "prose" },
      within: "organizationId",
    },
  },
  invites: {
    rows: [
      { by: { email: "email", userId: "user" }, hidden: ["tokenHash", "invitedBy", "invitedByKey"], erase: "delete" },
      { by: { invitedBy: "user" }, hidden: ["tokenHash", "email", "userId"], erase: { invitedBy: PSEUDONYM } },
    ],
    impersonal: { projects: "IDs and roles." },
  },
  users: {
    rows: [{ by: { id: "user" }, erase: "delete" }],
    impersonal: { email: "Deleted with its row.", scimUserName: "Deleted with its row." },
  },
} as const satisfies PersonalData;
