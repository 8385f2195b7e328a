/** Roles that every organization and every project has. */

import { ALL_PERMISSIONS, ALL_PROJECT_PERMISSIONS, type RolePermission } from "../../../contracts/permissions.ts";
import type { OrganizationRole } from "../people-rows.ts";

export interface BuiltInRole {
  id: string;
  name: string;
  description: string;
  permissions: readonly RolePermission[];
  isOfProject: boolean;
}

export type ProjectRole = "owner" | "member" | "viewer";

/** IDs of the built-in roles of organizations. */
export const ORGANIZATION_ROLE_IDS: Readonly<Record<OrganizationRole, string>> = {
  owner: "role_organization_owner",
  member: "role_organization_member",
  reader: "role_organization_reader",
};

/** IDs of the built-in roles of projects. */
export const PROJECT_ROLE_IDS: Readonly<Record<ProjectRole, string>> = {
  owner: "role_project_owner",
  member: "role_project_member",
  viewer: "role_project_viewer",
};

export const BUILT_IN_ROLES: readonly BuiltInRole[] = [
  {
    id: ORGANIZATION_ROLE_IDS.owner,
    name: "owner",
    description: "Everything, in the organization and in every project.",
    permissions: ALL_PERMISSIONS,
    isOfProject: false,
  },
  {
    id: ORGANIZATION_ROLE_IDS.member,
    name: "member",
    description: "Sees users, groups and roles, and creates projects.",
    permissions: [
      "organization.projects.write",
      "organization.users.read",
      "organization.groups.read",
      "organization.roles.read",
    ],
    isOfProject: false,
  },
  {
    id: ORGANIZATION_ROLE_IDS.reader,
    name: "reader",
    description: "What the roles in projects allow, and nothing else.",
    permissions: [],
    isOfProject: false,
  },
  {
    id: PROJECT_ROLE_IDS.owner,
    name: "owner",
    description: "Everything in the project.",
    permissions: ALL_PROJECT_PERMISSIONS,
    isOfProject: true,
  },
  {
    id: PROJECT_ROLE_IDS.member,
    name: "member",
    description: "Calls models, and has keys and usage of their own.",
    permissions: [
      "project.read",
      "project.members.read",
      "project.own_keys.write",
      "project.prompts.write",
      "project.skills.write",
      "project.webhooks.write",
      "project.inference",
    ],
    isOfProject: true,
  },
  {
    id: PROJECT_ROLE_IDS.viewer,
    name: "viewer",
    description: "Reads the project, its members and its usage, and changes nothing.",
    permissions: ["project.read", "project.members.read", "project.roles.read", "project.usage.read"],
    isOfProject: true,
  },
];

const BY_ID = new Map(BUILT_IN_ROLES.map((role) => [role.id, role]));

export function builtInRole(id: string): BuiltInRole | undefined {
  return BY_ID.get(id);
}
