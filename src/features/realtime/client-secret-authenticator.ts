import type { Authenticator } from "../../http/authenticate.ts";
import type { Accounts } from "../accounts/index.ts";
import { type ClientSecrets, isClientSecret } from "./client-secrets.ts";

/** Returns an authenticator that also takes the client secrets of the Realtime API. */
export function withClientSecrets(accounts: Accounts, secrets: ClientSecrets): Authenticator {
  return {
    authenticate: async (key) => (isClientSecret(key) ? (await secrets.open(key)).caller : accounts.authenticate(key)),
    authenticateKnown: (key) => (isClientSecret(key) ? undefined : accounts.authenticateKnown(key)),
    currentCaller: (caller) => accounts.currentCaller(caller),
    endOf: (key) => accounts.endOf(key),
    noteClient: (caller, client) => accounts.noteClient(caller, client),
    authenticateSession: (token, kind) => accounts.authenticateSession(token, kind),
    applyScopeHeaders: (caller, headers) => accounts.applyScopeHeaders(caller, headers),
  };
}
