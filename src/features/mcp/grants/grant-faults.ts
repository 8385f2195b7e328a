/** Failures of grants that callers see. */

import { Fault } from "../../../kernel/faults.ts";

const REQUIRED = "mcp_connection_required";
const FAILED = "mcp_authorization_failed";

/** The caller has to connect an account. `address`: where. */
export function connectionRequired(server: string, reason: string, address: string): Fault {
  const message = `${reason} Connect your account of the MCP server '${server}' at ${address} and try again.`;
  return new Fault("forbidden", message, { code: REQUIRED });
}

export function isConnectionRequired(failure: unknown): failure is Fault & { readonly code: typeof REQUIRED } {
  return failure instanceof Fault && failure.code === REQUIRED;
}

/** The authorization server cannot be used to connect an account. `cause`: for the log only. */
export function authorizationFailed(server: string, reason: string, cause?: unknown): Fault {
  return failed(`Accounts of the MCP server '${server}' cannot be connected: ${reason}`, cause);
}

/** The token of a connected account has ended, and there is no other one now. */
export function refreshFailed(reason: string, cause: unknown): Fault {
  return failed(`The token of the connected account could not be refreshed: ${reason}`, cause);
}

/** Whether a failure says itself what callers may read of it. */
export function isGrantFailure(failure: unknown): failure is Fault {
  return failure instanceof Fault && (failure.code === REQUIRED || failure.code === FAILED);
}

function failed(message: string, cause: unknown): Fault {
  return new Fault("upstream-failed", message, { code: FAILED, cause });
}
