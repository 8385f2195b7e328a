import { type Accounts, isUnrestricted } from "../accounts/index.ts";

/**
 * Whether a session is the operator's: with an unrestricted admin key of the default organization, as the terminal's link
 * has it.
 */
export async function isOperatorSession(accounts: Accounts, token: string | undefined): Promise<boolean> {
  const caller = token === undefined ? undefined : await accounts.authenticateSession(token, "admin");
  if (caller === undefined || !isUnrestricted(caller)) return false;
  return accounts.organizations.isDefault(caller.organizationId);
}
