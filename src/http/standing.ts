/** Keys and sessions of requests that last: whether they still work. */

import type { FastifyRequest } from "fastify";
import type { Caller } from "../contracts/caller.ts";
import { Fault } from "../kernel/faults.ts";
import { type Authenticator, checkAccess, sessionEnded } from "./authenticate.ts";
import { sentKey } from "./sent-key.ts";
import { sessionToken } from "./session-cookie.ts";

/**
 * Authenticates the key or session of a request again. Throws a Fault when it does not work any more, or may no longer
 * call the operation.
 */
export async function reauthenticate(
  request: FastifyRequest,
  accounts: Pick<Authenticator, "authenticate" | "authenticateSession">,
): Promise<Caller> {
  const { keyId, kind } = request.caller;
  const key = sentKey(request.headers);
  const caller =
    key === undefined
      ? await accounts.authenticateSession(sessionToken(request) ?? "", kind)
      : await accounts.authenticate(key, kind);
  if (caller?.keyId !== keyId) throw sessionEnded();
  // The operator stays in the organization that the request named.
  if (caller.isOperator && caller.organizationId !== request.caller.organizationId) return request.caller;
  // A change of accounts makes another caller.
  if (caller !== request.caller && caller.access !== undefined) checkAccess(request, caller);
  return caller;
}

/**
 * Throws a Fault once the key or session of a request that lasts has ended, or may no longer call the operation. Checks
 * what is cached, so that it costs little and is no use of the key.
 */
export async function checkStanding(
  request: FastifyRequest,
  accounts: Pick<Authenticator, "currentCaller" | "endOf">,
): Promise<void> {
  const key = sentKey(request.headers);
  refuseEnded(accounts.endOf(key));
  const caller = await accounts.currentCaller(request.caller);
  if (caller === undefined) throw key === undefined ? sessionEnded() : keyEnded();
  if (caller.keyId !== request.caller.keyId) throw projectChanged();
  if (caller !== request.caller && caller.access !== undefined) checkAccess(request, caller);
}

/** Throws a Fault when a token has ended. `endsAt`: epoch milliseconds. */
export function refuseEnded(endsAt: number | undefined): void {
  if (endsAt === undefined || endsAt > Date.now()) return;
  throw new Fault("unauthenticated", "The token of this connection has expired.", { code: "token_expired" });
}

function keyEnded(): Fault {
  const message = "The API key of this connection does not work any more.";
  return new Fault("unauthenticated", message, { code: "invalid_api_key" });
}

function projectChanged(): Fault {
  const message = "Your console session has changed to another project. Connect again.";
  return new Fault("unauthenticated", message, { code: "session_ended" });
}
