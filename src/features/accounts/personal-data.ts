import { sql } from "kysely";
import { type PersonalData, PSEUDONYM, type QueriedRows } from "../../storage/personal-data.ts";
import { ERASED } from "./keys/api-key-queries.ts";

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

export const apiKeyData = {
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
    texts: { columns: { name: "prose" }, within: "organizationId" },
    impersonal: { lastUsedClient: "Erased with its key.", rootKeyId: "ID of a key, to which sums of usage refer." },
  },
} as const satisfies PersonalData;
