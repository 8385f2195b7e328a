import type { Caller } from "../../contracts/caller.ts";
import { type Accounts, isUnrestricted } from "../accounts/index.ts";

/**
 * Returns the caller of a session if it is the operator's: with an unrestricted admin key of the default organization, as
 * the terminal's link has it.
 */
export async function operatorOfSession(accounts: Accounts, token: string | undefined): Promise<Caller | undefined> {
  const caller = token === undefined ? undefined : await accounts.authenticateSession(token, "admin");
  if (caller === undefined || !isUnrestricted(caller)) return undefined;
  return (await accounts.organizations.isDefault(caller.organizationId)) ? caller : undefined;
}
