import type { Authenticator } from "../../http/authenticate.ts";
import type { Accounts } from "../accounts/accounts.ts";
import { isClientSecret } from "./client-secrets.ts";

/** Returns an authenticator that also takes the client secrets of the Realtime API. */
export function withClientSecrets(accounts: Accounts): Authenticator {
  return {
    authenticate: async (key) =>
      isClientSecret(key) ? (await accounts.authenticateClientSecret(key)).caller : accounts.authenticate(key),
    authenticateKnown: (key) => (isClientSecret(key) ? undefined : accounts.authenticateKnown(key)),
    noteClient: (caller, client) => accounts.noteClient(caller, client),
    authenticateSession: (token, kind) => accounts.authenticateSession(token, kind),
    applyScopeHeaders: (caller, headers) => accounts.applyScopeHeaders(caller, headers),
  };
}
