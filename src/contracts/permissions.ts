/** Permissions that roles consist of, each with what it allows. */

/** Permissions in the organization. */
export const ORGANIZATION_PERMISSIONS = {
  "organization.read": "Reads the organization's models, configuration, model permissions and limits.",
  "organization.write": "Changes the organization's model permissions and limits.",
  "organization.models.write": "Pulls, loads, unloads and removes models.",
  "organization.configuration.write": "Changes models, connections to upstreams and settings of the installation.",
  "organization.projects.write": "Creates projects; the creator becomes the owner of the project.",
  "organization.users.read": "Reads users and invites.",
  "organization.users.write": "Invites, disables and removes users, and assigns their roles.",
  "organization.users.data": "Exports and erases what is stored of a user.",
  "organization.scim.write": "Provisions users and groups by SCIM, whatever roles these groups have.",
  "organization.groups.read": "Reads groups and their members.",
  "organization.groups.write": "Changes groups, their members and their roles.",
  "organization.roles.read": "Reads custom roles of the organization.",
  "organization.roles.write": "Changes custom roles of the organization.",
  "organization.admin_keys.read": "Reads admin keys, without their secrets.",
  "organization.admin_keys.write": "Creates and revokes admin keys.",
  "organization.audit_logs.read": "Reads the audit log.",
} as const;

/** Permissions in one project; in a role of the organization, they hold in every project. */
export const PROJECT_PERMISSIONS = {
  "project.read": "Reads the project, its models, limits and policies.",
  "project.write": "Renames and archives the project.",
  "project.limits.write": "Changes the project's model permissions, limits and policies.",
  "project.members.read": "Reads the users and groups of the project.",
  "project.members.write": "Adds and removes users and groups of the project, and assigns their roles.",
  "project.roles.read": "Reads custom roles of the project.",
  "project.roles.write": "Changes custom roles of the project.",
  "project.keys.read": "Reads all keys and service accounts of the project, without secrets.",
  "project.keys.write": "Changes service accounts and all keys of the project.",
  "project.own_keys.write": "Creates, renames, rotates and revokes keys of one's own.",
  "project.usage.read": "Reads the usage, costs and requests of everyone in the project.",
  "project.content.read": "Reads, searches and exports recorded prompts and answers of everyone in the project.",
  "project.prompts.write": "Changes stored prompts, their versions and labels.",
  "project.skills.write": "Uploads and deletes skills and their versions, and chooses default versions.",
  "project.webhooks.write": "Creates, changes and deletes the project's webhook endpoints.",
  "project.inference": "Calls models, and uses files, batches and stored responses of the project.",
} as const;

/** What a key of a project without a user allows in it. */
export const PROJECT_KEY_PERMISSIONS: readonly ProjectPermission[] = [
  "project.inference",
  "project.prompts.write",
  "project.skills.write",
  "project.usage.read",
  "project.webhooks.write",
];

export type ProjectPermission = keyof typeof PROJECT_PERMISSIONS;
export type RolePermission = keyof typeof ORGANIZATION_PERMISSIONS | ProjectPermission;

export const ALL_PROJECT_PERMISSIONS = Object.keys(PROJECT_PERMISSIONS) as readonly ProjectPermission[];
export const ALL_PERMISSIONS: readonly RolePermission[] = [
  ...(Object.keys(ORGANIZATION_PERMISSIONS) as (keyof typeof ORGANIZATION_PERMISSIONS)[]),
  ...ALL_PROJECT_PERMISSIONS,
];

export function isRolePermission(text: string): text is RolePermission {
  return (ALL_PERMISSIONS as readonly string[]).includes(text);
}
