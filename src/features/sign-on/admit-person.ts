/** Finds or creates the user of a person whom a provider signed in. */

import { Fault } from "../../kernel/faults.ts";
import {
  type AccountTransaction,
  acceptInvite,
  acceptInviteOf,
  addUser,
  findAccess,
  findUser,
  findUserByEmail,
  setOrganizationRole,
  toEmailKey,
  type UserRow,
} from "../accounts/index.ts";
import { groupsByRules, setGroups } from "./group-rules.ts";
import { findIdentitiesOf, findIdentity, recordIdentityUse } from "./identity-queries.ts";
import { linkIdentity } from "./link-identity.ts";
import { endLocalAccess, type Providers } from "./local-access.ts";
import type { Person } from "./person.ts";
import type { ProviderSettings } from "./settings.ts";
import { SignOnFailure } from "./sign-on-failure.ts";

export interface Admission {
  organizationId: string;
  provider: Pick<ProviderSettings, "id" | "name" | "issuer" | "rules" | "createUsers" | "emailDomains">;
  /** All of the configuration. */
  providers: Providers;
  person: Person;
  /** Whether the person becomes the first owner. */
  isFirstOwner: boolean;
  /** Token of the invite whose link the person followed. */
  invite?: string | undefined;
}

export interface AdmittedPerson {
  user: UserRow;
  /** Whether any role gives the user a permission. Without one, there is nothing to sign in for. */
  hasAccess: boolean;
}

/**
 * Returns the user: the one of the identity, otherwise the one with the verified address, otherwise a new one. Applies
 * the provider's groups. Throws a SignOnFailure when the person may not sign in.
 */
export async function admitPerson(transaction: AccountTransaction, admission: Admission): Promise<AdmittedPerson> {
  const { executor, now } = transaction;
  const { organizationId, provider, person } = admission;
  const { issuer } = provider;
  checkDomain(admission);
  const identity = await findIdentity(executor, issuer, person.subject);
  const user =
    identity === undefined
      ? await linkUser(transaction, admission)
      : await findUser(executor, { organizationId, id: identity.userId });
  if (user === undefined)
    throw new SignOnFailure("disabled", "The account of this identity is in another organization.");
  if (user.disabledAt !== null) throw new SignOnFailure("disabled", `The account ${user.email} is disabled.`);
  if (identity !== undefined) await recordIdentityUse(executor, identity, now);
  await setGroups(transaction, user, provider, groupsByRules(provider, person.groups));
  const admitted = admission.isFirstOwner ? await setOrganizationRole(transaction, user, "owner") : user;
  const access = (await findAccess(executor, [{ user: admitted }])).get(user.id);
  const hasAccess = access !== undefined && access.organization.length + Object.keys(access.projects).length > 0;
  return { user: admitted, hasAccess };
}

/**
 * Links a new identity with the user of its verified address, or with a new user. Of a user who exists, only what is in
 * the account stays: whoever made it did not have to have the address.
 */
async function linkUser(transaction: AccountTransaction, admission: Admission): Promise<UserRow> {
  const { executor } = transaction;
  const { organizationId, provider, providers, person } = admission;
  const email = verifiedEmail(admission);
  const existing = await findUserByEmail(executor, organizationId, email);
  const user =
    existing ??
    (await acceptPendingInvite(transaction, admission, email)) ??
    (await createUser(transaction, admission, email));
  const others = await findIdentitiesOf(executor, user.id);
  // The provider gave a former colleague's address to another person.
  if (others.some(({ issuer }) => issuer === provider.issuer)) {
    throw new SignOnFailure(
      "identity-taken",
      `The account ${user.email} is linked with another person at this provider.`,
    );
  }
  if (existing !== undefined) await endLocalAccess(transaction, existing, providers);
  await linkIdentity(transaction, user, provider, person.subject);
  return user;
}

/** Accepts the invite of the link that the person followed, or else the pending one of the address. */
async function acceptPendingInvite(
  transaction: AccountTransaction,
  { organizationId, person: { name }, invite: token }: Admission,
  email: string,
): Promise<UserRow | undefined> {
  if (token === undefined) return acceptInviteOf(transaction, { organizationId, email, name });
  return acceptInvite(transaction, { token, email, name }).catch((failure: unknown) => {
    if (failure instanceof Fault) throw new SignOnFailure("invite", failure.message, failure);
    throw failure;
  });
}

async function createUser(
  transaction: AccountTransaction,
  { organizationId, provider, person: { name }, isFirstOwner }: Admission,
  email: string,
): Promise<UserRow> {
  if (!provider.createUsers && !isFirstOwner) {
    throw new SignOnFailure("not-invited", `No user has the address ${email}, and only invited people may sign in.`);
  }
  // What a reader may do comes from groups and projects.
  return addUser(transaction, { organizationId, email, name, role: isFirstOwner ? "owner" : "reader" });
}

function verifiedEmail({ person }: Admission): string {
  const { email, isEmailVerified } = person;
  if (email === undefined) throw new SignOnFailure("no-email", "The provider's answer has no e-mail address.");
  if (!isEmailVerified) {
    throw new SignOnFailure("email-unverified", `The provider does not say that ${email} is verified.`);
  }
  return email;
}

function checkDomain({ provider: { emailDomains }, person: { email } }: Admission): void {
  if (emailDomains.length === 0 || email === undefined) return;
  const domain = toEmailKey(email).split("@").at(-1) ?? "";
  if (emailDomains.includes(domain)) return;
  throw new SignOnFailure("email-domain", `Addresses of ${domain} are not among those that may sign in.`);
}
