import { sql } from "kysely";
import { type PersonalData, PSEUDONYM, type QueriedRows } from "../../storage/personal-data.ts";
import { ERASED } from "./keys/api-key-queries.ts";

const NO_PERSON = "Names of resources; persons are in other tables.";

/** Keys of sessions have the ID of the user in place of a hash. */
const hashesOfKeys: QueriedRows<"apiKeys"> = {
  columns: ["keyHash"],
  erase: ({ database }, { identifiers: { user } }) =>
    database.run(async (executor) => {
      if (user.length === 0) return 0;
      const keyHash = sql<string>`cast(${ERASED} as text) || id`;
      await executor.updateTable("apiKeys").set({ keyHash }).where("userId", "in", user).execute();
      return 0;
    }),
};

export const accountData = {
  organizations: { reason: NO_PERSON, impersonal: { name: "Name of the organization." } },
  projects: { reason: NO_PERSON, texts: { columns: ["name"], within: "organizationId" } },
  serviceAccounts: { reason: NO_PERSON, texts: { columns: ["name"], within: "projectId" } },
  groups: {
    reason: NO_PERSON,
    texts: { columns: ["name", "nameKey"], within: "organizationId" },
    impersonal: { providerGroup: "Name that the provider has." },
  },
  resolvedNames: { reason: NO_PERSON, impersonal: { name: "Name in the configuration." } },
  modelPermissions: { reason: "Settings of projects and organizations." },
  accountChanges: { reason: "One counter." },
  auditLogs: {
    rows: [
      {
        by: { actorUserId: "user", actorKeyId: "caller" },
        order: "id",
        erase: { actorUserId: PSEUDONYM, ipAddress: null, userAgent: null },
      },
      {
        by: { resourceId: "user" },
        hidden: ["actorKeyId", "actorUserId", "ipAddress", "userAgent"],
        order: "id",
        erase: { resourceId: PSEUDONYM, details: "{}" },
      },
      {
        by: { resourceId: "key" },
        hidden: ["actorKeyId", "actorUserId", "ipAddress", "userAgent"],
        order: "id",
        // The name of a key can be that of a person.
        erase: { details: "{}" },
      },
    ],
    texts: { columns: ["details", "projectName"], within: "organizationId" },
    impersonal: { userAgent: "Erased with its entry." },
  },
  groupMembers: { rows: [{ by: { userId: "user" }, erase: "delete" }] },
  projectUsers: { rows: [{ by: { userId: "user" }, erase: "delete" }] },
  projectGroups: { reason: "Groups of projects." },
  roleAssignments: { rows: [{ by: { principalId: "user" }, erase: "delete" }] },
  roles: {
    rows: [{ by: { createdBy: "user" }, erase: { createdBy: PSEUDONYM } }],
    texts: { columns: ["name", "nameKey", "description"], within: "organizationId" },
  },
  invites: {
    rows: [
      { by: { email: "email", userId: "user" }, hidden: ["tokenHash", "invitedBy", "invitedByKey"], erase: "delete" },
      { by: { invitedBy: "user" }, hidden: ["tokenHash", "email", "userId"], erase: { invitedBy: PSEUDONYM } },
    ],
    impersonal: { projects: "IDs and roles." },
  },
  apiKeys: {
    rows: [
      hashesOfKeys,
      {
        by: { userId: "user" },
        hidden: ["keyHash"],
        // Sums of usage refer to the key, which stays revoked. A key without a user would have more permissions.
        erase: { userId: PSEUDONYM, name: "Erased", lastUsedAddress: null, lastUsedClient: null },
      },
    ],
    texts: { columns: ["name"], within: "organizationId" },
    impersonal: { lastUsedClient: "Erased with its key.", rootKeyId: "ID of a key, to which sums of usage refer." },
  },
  users: {
    rows: [{ by: { id: "user" }, erase: "delete" }],
    impersonal: { email: "Deleted with its row.", scimUserName: "Deleted with its row." },
  },
} as const satisfies PersonalData;
