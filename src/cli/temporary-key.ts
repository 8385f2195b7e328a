import { OPERATOR } from "../features/accounts/audit/audit.ts";
import { HOUR_SECONDS } from "../kernel/durations.ts";
import { withAccounts } from "./with-accounts.ts";

/** The key expires by itself where the command is killed before it revokes it. */
const LIFETIME_SECONDS = 12 * HOUR_SECONDS;

/** Runs `work` with the secret of a key that is revoked afterwards. */
export async function withTemporaryKey<Result>(
  kind: "project" | "admin",
  work: (secret: string) => Promise<Result>,
): Promise<Result> {
  const result = Promise.withResolvers<Result>();
  await withAccounts(async (accounts) => {
    const scope = await accounts.defaultScope(kind);
    const newKey = { scope, name: "Command line", expiresInSeconds: LIFETIME_SECONDS };
    const { key, secret } = await accounts.apiKeys.create(OPERATOR, newKey);
    try {
      result.resolve(await work(secret.reveal()));
    } finally {
      await accounts.apiKeys.revoke(OPERATOR, scope, key.id);
    }
  });
  return result.promise;
}
