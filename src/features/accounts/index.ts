/** What other features may use. */

export type { AuditLogRow } from "./account-rows.ts";
export type { AccountTransaction, AccountTransactions } from "./account-transaction.ts";
export type { Accounts } from "./accounts.ts";
export { actorOf, projectAuthorOf } from "./audit/actor.ts";
export { type Actor, type AuditEvent, OPERATOR, recordAudit } from "./audit/audit.ts";
export { type ProjectAuthor, recordProjectAudit } from "./audit/project-audit.ts";
export type { Callers } from "./callers.ts";
export {
  findGroupsByName,
  findGroupsOfUsers,
  type GroupReference,
  toNameKey,
  updateGroup,
} from "./groups/group-queries.ts";
export {
  addGroup,
  findExistingGroup,
  refuseProviderGroup,
  removeGroup,
  renameGroup,
  setGroupsOfUser,
  storeGroup,
} from "./groups/groups.ts";
export { acceptInvite, acceptInviteOf, type Invites } from "./invites/invites.ts";
export type { ActiveApiKeyRow } from "./keys/active-api-key-queries.ts";
export {
  endApiKeysOfUser,
  findApiKey,
  findApiKeyByHash,
  findUsableApiKeys,
} from "./keys/api-key-queries.ts";
export { type KeyPolicy, projectKeyPolicy } from "./keys/key-policy.ts";
export { findKeyRulesOf, type StoredKeyRules } from "./keys/key-rules.ts";
export { restoreApiKey, storeApiKey } from "./keys/store-api-key.ts";
export { checkName } from "./name.ts";
export { READ, requireDefaultOrganization, WRITE } from "./organizations/default-organization.ts";
export { findDefaultOrganization } from "./organizations/organization-queries.ts";
export type { GroupMemberRow, GroupRow, UserRow } from "./people-rows.ts";
export { mayRecord, mayStore, notStored, retentionPolicy } from "./policies/data-retention-policy.ts";
export { projectPolicyRoutes, putProjectRow } from "./policies/project-policy.ts";
export { StoredPolicy } from "./policies/stored-policy.ts";
export { type AccessedModel, modelAccess } from "./projects/model-access.ts";
export { lockProject } from "./projects/project-queries.ts";
export { projectOf } from "./projects/project-routes.ts";
export { findActiveProject, findExistingProject } from "./projects/projects.ts";
export { type Resolution, resolveName } from "./resolved-names.ts";
export { BUILT_IN_ROLES } from "./roles/built-in-roles.ts";
export { checkAuthor } from "./roles/check-author.ts";
export { findAccess } from "./roles/find-access.ts";
export { type RoleOfGroup, setRolesOfGroup } from "./roles/group-roles.ts";
export {
  type Author,
  authorOf,
  checkMayGrant,
  checkMayGrantEverything,
  checkMayManageGroup,
  checkMayManageUser,
  checkMayReachUser,
  isUnrestricted,
  mayStillGrant,
} from "./roles/may-grant.ts";
export { hashSessionToken, isTokenLength, newSessionToken } from "./sessions/console-sessions.ts";
export { checkEmail, isEmail } from "./users/email.ts";
export { setOrganizationRole } from "./users/organization-role.ts";
export {
  countOwners,
  findOwners,
  findUser,
  findUserByEmail,
  findUsersByIds,
  toEmailKey,
  type UserReference,
  updateUser,
} from "./users/user-queries.ts";
export { addUser, checkNotLastOwner, findExistingUser, removeUser } from "./users/users.ts";
