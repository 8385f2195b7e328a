/** Finds the values by which tables name a person. */

import { newId } from "../../kernel/id.ts";
import type { Executor } from "../../storage/database.ts";
import type { Person } from "../../storage/personal-data.ts";
import { isEmail, type UserRow } from "../accounts/index.ts";
import { quotationsOf } from "./quotations.ts";

const NOBODY: Person["identifiers"] = { user: [], key: [], caller: [], email: [], endUser: [] };

/** Returns a user as a person: an application can send the ID or address of a user as its end user. */
export async function userAsPerson(executor: Executor, { id, organizationId, email, name }: UserRow): Promise<Person> {
  const keys = await executor.selectFrom("apiKeys").select("id").where("userId", "=", id).execute();
  const sessions = await executor.selectFrom("userSessions").select("id").where("userId", "=", id).execute();
  const key = keys.map((row) => row.id);
  const caller = [id, ...key, ...sessions.map((row) => row.id)];
  const identifiers = { user: [id], key, caller, email: [email], endUser: [id, email] };
  const quotations = quotationsOf({ identifiers: [id, email], name });
  return { organizationId, pseudonym: newPseudonym(), identifiers, quotations };
}

/**
 * Returns the end user of an application as a person. `value`: as requests send it. Texts of others quote an address only:
 * anything else that an application sends may be a phrase of any text.
 */
export function endUserAsPerson(organizationId: string, value: string): Person {
  const quotations = quotationsOf({ identifiers: isEmail(value) ? [value] : [], name: null });
  return { organizationId, pseudonym: newPseudonym(), identifiers: { ...NOBODY, endUser: [value] }, quotations };
}

function newPseudonym(): string {
  return newId("erased_");
}
