/** What lets somebody in as a user without a provider: passwords, links that set one, and what was made with them. */

import { Fault } from "../../kernel/faults.ts";
import type { Executor } from "../../storage/database.ts";
import { type AccountTransaction, endApiKeysOfUser, type UserRow } from "../accounts/index.ts";
import { findIdentitiesOf } from "./identity-queries.ts";
import { deletePassword, deletePasswordLinks } from "./password-queries.ts";
import type { ProviderSettings } from "./settings.ts";
import { findSessionsOfUser } from "./user-session-queries.ts";
import { endSessions } from "./user-sessions.ts";

/** Providers of the configuration. */
export type Providers = readonly Pick<ProviderSettings, "issuer" | "name">[];

/** Finds a provider of the configuration with which the user has signed in. */
async function findProviderOf(executor: Executor, userId: string, providers: Providers) {
  if (providers.length === 0) return undefined;
  const issuers = new Set((await findIdentitiesOf(executor, userId)).map(({ issuer }) => issuer));
  return providers.find(({ issuer }) => issuers.has(issuer));
}

/**
 * Throws a Fault for a user who signs in with a provider: a password would go on when the account there ends, and
 * whoever set it would be the user.
 */
export async function refuseLocalAccess(
  executor: Executor,
  { id, email }: Pick<UserRow, "id" | "email">,
  providers: Providers,
): Promise<void> {
  const provider = await findProviderOf(executor, id, providers);
  if (provider === undefined) return;
  const message = `${email} signs in with ${provider.name}, and so without a password.`;
  throw new Fault("forbidden", message, { code: "sign_on_required" });
}

/**
 * Ends what was made of a user whom a provider or directory finds by address: password, links, sessions, keys, and
 * accounts at other services. Nothing of it proves that its maker has the address, since whoever invites a person or
 * creates a link sees the token. What the user made after signing in with a provider of the configuration stays.
 */
export async function endLocalAccess(
  transaction: AccountTransaction,
  user: Pick<UserRow, "id" | "organizationId">,
  providers: Providers,
): Promise<void> {
  const { executor, now, audit, extensions } = transaction;
  const { id, organizationId } = user;
  if ((await findProviderOf(executor, id, providers)) !== undefined) return;
  const sessions = await findSessionsOfUser(executor, id);
  const unconfirmed = sessions.filter((session) => providers.every(({ issuer }) => issuer !== session.issuer));
  await endSessions(transaction, unconfirmed, "the address was confirmed");
  await deletePassword(executor, id);
  await deletePasswordLinks(executor, id, now);
  await endApiKeysOfUser(executor, id, now);
  await extensions.onUserConfirmed(executor, id);
  await audit({ type: "user.updated", organizationId, resourceId: id, details: { localAccess: "ended" } });
}
