import { sql } from "kysely";
import type { Executor } from "../../storage/database.ts";
import { type Person, type PersonalData, PSEUDONYM, type QueriedRows } from "../../storage/personal-data.ts";

const NO_PERSON = "Names of resources; persons are in other tables.";

/** Entries whose details quote the address, or the ID of the user as another's resource. */
const auditDetails: QueriedRows<"auditLogs"> = {
  columns: ["details"],
  async erase({ database }, person) {
    const { user, email } = person.identifiers;
    let erased = 0;
    for (const value of [...user, ...email]) {
      // JSON quotes the value in the way that `details` has it.
      const quoted = JSON.stringify(value);
      erased += await database.run((executor) => replaceInDetails(executor, person, quoted));
    }
    return erased;
  },
};

async function replaceInDetails(executor: Executor, person: Person, quoted: string): Promise<number> {
  const details = sql<string>`replace(details, ${quoted}, ${JSON.stringify(person.pseudonym)})`;
  const result = await executor
    .updateTable("auditLogs")
    .set({ details })
    .where("organizationId", "=", person.organizationId)
    // Unlike `like`, it compares case on both databases.
    .where(sql<boolean>`replace(details, ${quoted}, '') <> details`)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** Keys of sessions have the ID of the user in place of a hash. */
const hashesOfKeys: QueriedRows<"apiKeys"> = {
  columns: ["keyHash"],
  erase: ({ database }, { identifiers: { user } }) =>
    database.run(async (executor) => {
      if (user.length === 0) return 0;
      const keyHash = sql<string>`'erased ' || id`;
      await executor.updateTable("apiKeys").set({ keyHash }).where("userId", "in", user).execute();
      return 0;
    }),
};

export const accountData = {
  organizations: { reason: NO_PERSON },
  projects: { reason: NO_PERSON },
  serviceAccounts: { reason: NO_PERSON },
  groups: { reason: NO_PERSON },
  resolvedNames: { reason: NO_PERSON },
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
      auditDetails,
    ],
    impersonal: { userAgent: "Erased with its entry." },
  },
  groupMembers: { rows: [{ by: { userId: "user" }, erase: "delete" }] },
  projectUsers: { rows: [{ by: { userId: "user" }, erase: "delete" }] },
  projectGroups: { reason: "Groups of projects." },
  roleAssignments: { rows: [{ by: { principalId: "user" }, erase: "delete" }] },
  roles: { rows: [{ by: { createdBy: "user" }, erase: { createdBy: PSEUDONYM } }] },
  invites: {
    rows: [
      { by: { email: "email", userId: "user" }, hidden: ["tokenHash", "invitedBy"], erase: "delete" },
      { by: { invitedBy: "user" }, hidden: ["tokenHash", "email", "userId"], erase: { invitedBy: PSEUDONYM } },
    ],
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
    impersonal: { lastUsedClient: "Erased with its key." },
  },
  users: {
    rows: [{ by: { id: "user" }, erase: "delete" }],
    impersonal: { email: "Deleted with its row.", scimUserName: "Deleted with its row." },
  },
} as const satisfies PersonalData;
