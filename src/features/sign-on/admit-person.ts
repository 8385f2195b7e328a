/** Finds or creates the user of a person whom a provider signed in. */

import { newId } from "../../kernel/id.ts";
import type { AccountTransaction } from "../accounts/account-transaction.ts";
import type { UserRow } from "../accounts/people-rows.ts";
import { findAccess } from "../accounts/roles/find-access.ts";
import { findUser, findUserByEmail, insertUser, toEmailKey, updateUser } from "../accounts/users/user-queries.ts";
import { groupsByRules, setGroups } from "./group-rules.ts";
import { findIdentitiesOf, findIdentity, insertIdentity, recordIdentityUse } from "./identity-queries.ts";
import type { Person } from "./person.ts";
import type { ProviderSettings } from "./settings.ts";
import { SignOnFailure } from "./sign-on-failure.ts";

export interface Admission {
  organizationId: string;
  provider: Pick<ProviderSettings, "id" | "name" | "issuer" | "rules" | "createUsers" | "emailDomains">;
  person: Person;
  /** Whether the person becomes the first owner. */
  isFirstOwner: boolean;
  /** User of an invite that the person accepts, or of an earlier session. */
  invitedAs?: UserRow | undefined;
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
  await setGroups(transaction, user, issuer, groupsByRules(provider, person.groups));
  if (admission.isFirstOwner) await updateUser(executor, user.id, { role: "owner" });
  const admitted: UserRow = admission.isFirstOwner ? { ...user, role: "owner" } : user;
  const access = (await findAccess(executor, [{ user: admitted }])).get(user.id);
  const hasAccess = access !== undefined && access.organization.length + Object.keys(access.projects).length > 0;
  return { user: admitted, hasAccess };
}

/** Links a new identity with the user of its verified address, or with a new user. */
async function linkUser(transaction: AccountTransaction, admission: Admission): Promise<UserRow> {
  const { executor, now } = transaction;
  const { organizationId, provider, person } = admission;
  const email = verifiedEmail(admission);
  const existing = admission.invitedAs ?? (await findUserByEmail(executor, organizationId, email));
  if (existing === undefined && !provider.createUsers && !admission.isFirstOwner) {
    throw new SignOnFailure("not-invited", `No user has the address ${email}, and only invited people may sign in.`);
  }
  const user = existing ?? (await addUser(transaction, admission, email));
  const others = await findIdentitiesOf(executor, user.id);
  // The provider gave a former colleague's address to another person.
  if (others.some(({ issuer }) => issuer === provider.issuer)) {
    throw new SignOnFailure(
      "identity-taken",
      `The account ${user.email} is linked with another person at this provider.`,
    );
  }
  const { issuer } = provider;
  await insertIdentity(executor, { issuer, subject: person.subject, userId: user.id, createdAt: now, lastUsedAt: now });
  return user;
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

async function addUser(
  { executor, now, audit }: AccountTransaction,
  { organizationId, person, isFirstOwner }: Admission,
  email: string,
): Promise<UserRow> {
  const user: UserRow = {
    id: newId("user_"),
    organizationId,
    email: toEmailKey(email),
    name: person.name ?? email,
    // What it allows comes from groups and projects.
    role: isFirstOwner ? "owner" : "reader",
    addedAt: now,
    disabledAt: null,
    lastActiveAt: null,
    isScimManaged: 0,
  };
  await insertUser(executor, user);
  await audit({ type: "user.added", organizationId, resourceId: user.id, details: { role: user.role } });
  return user;
}
