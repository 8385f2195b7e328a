import type { AccountTransaction, UserRow } from "../accounts/index.ts";
import { insertIdentity } from "./identity-queries.ts";
import type { ProviderSettings } from "./settings.ts";

/** Lets an identity at a provider sign a user in from now on, and audits that. */
export async function linkIdentity(
  { executor, now, audit }: AccountTransaction,
  { id: userId, organizationId }: Pick<UserRow, "id" | "organizationId">,
  { id: linkedProvider, issuer }: Pick<ProviderSettings, "id" | "issuer">,
  subject: string,
): Promise<void> {
  await insertIdentity(executor, { issuer, subject, userId, createdAt: now, lastUsedAt: now });
  // Without the subject: an erasure could not find it.
  await audit({ type: "user.updated", organizationId, resourceId: userId, details: { linkedProvider } });
}
