/** What of a user SCIM clients see, and what users have by their attributes. */

import type { Attributes } from "../../wire/scim/read-resource.ts";
import { scimFault } from "../../wire/scim/scim-error.ts";
import { checkEmail, checkName, toEmailKey, type UserRow } from "../accounts/index.ts";

interface Email {
  value?: string;
  type?: string;
  primary?: boolean;
}

interface PersonName {
  formatted?: string;
  givenName?: string;
  middleName?: string;
  familyName?: string;
}

/** Columns of a user that follow from attributes. */
export type ScimColumns = Pick<UserRow, "email" | "name"> &
  Required<Pick<UserRow, "externalId" | "scimUserName" | "scimAttributes">>;

/** Attributes of a user that clients can change. */
export function toUserAttributes(user: UserRow): Attributes {
  const { email, name, externalId, scimAttributes } = user;
  const stored: Attributes =
    scimAttributes == null
      ? { userName: email, displayName: name, emails: [{ value: email, type: "work", primary: true }] }
      : JSON.parse(scimAttributes);
  return {
    ...(externalId != null && { externalId }),
    ...stored,
    active: user.disabledAt === null,
  };
}

/** Returns the columns for attributes. Throws a Fault for a user without a name or an address. */
export function toScimColumns({ active: _active, externalId, ...attributes }: Attributes): ScimColumns {
  const { userName } = attributes;
  if (typeof userName !== "string" || userName.trim() === "") {
    throw scimFault("invalidValue", "'userName' is missing.");
  }
  return {
    email: addressOf(userName, (attributes.emails ?? []) as Email[]),
    name: checkName(nameOf(attributes) ?? userName, "displayName"),
    externalId: (externalId as string | undefined) ?? null,
    scimUserName: toEmailKey(userName),
    scimAttributes: JSON.stringify(attributes),
  };
}

function addressOf(userName: string, emails: readonly Email[]): string {
  const chosen =
    emails.find(({ primary }) => primary === true) ?? emails.find(({ type }) => type === "work") ?? emails[0];
  if (chosen?.value !== undefined) return checkEmail(chosen.value, "emails");
  if (userName.includes("@")) return checkEmail(userName, "userName");
  throw scimFault("invalidValue", "The user needs an e-mail address: send 'emails', or an address as 'userName'.");
}

function nameOf({ displayName, name }: Attributes): string | undefined {
  if (typeof displayName === "string") return displayName;
  const { formatted, givenName, middleName, familyName } = (name ?? {}) as PersonName;
  const joined = [givenName, middleName, familyName].filter((part) => part !== undefined).join(" ");
  return formatted ?? (joined || undefined);
}
