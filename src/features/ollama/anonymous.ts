import type { Caller } from "../../contracts/caller.ts";
import type { Authenticator } from "../../http/authenticate.ts";

interface AnonymousAuthenticator extends Authenticator {
  authenticateAnonymous(): Promise<Caller>;
}

/** Returns an authenticator that admits requests without a key, where the operator configured a project for them. */
export function withAnonymous(accounts: AnonymousAuthenticator): Authenticator {
  return {
    authenticate: (key) => (key === undefined ? accounts.authenticateAnonymous() : accounts.authenticate(key)),
    authenticateKnown: (key) => accounts.authenticateKnown(key),
    currentCaller: (caller) => accounts.currentCaller(caller),
    endOf: (key) => accounts.endOf(key),
    noteClient: (caller, client) => accounts.noteClient(caller, client),
    authenticateSession: (token, kind) => accounts.authenticateSession(token, kind),
    applyScopeHeaders: (caller, headers) => accounts.applyScopeHeaders(caller, headers),
  };
}
