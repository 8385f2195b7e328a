/** Failures of grants that callers see. */

import { Fault } from "../../../kernel/faults.ts";

const REQUIRED = "mcp_connection_required";

/** The caller has to connect an account. `address`: where. */
export function connectionRequired(server: string, reason: string, address: string): Fault {
  const message = `${reason} Connect your account of the MCP server '${server}' at ${address} and try again.`;
  return new Fault("forbidden", message, { code: REQUIRED });
}

export function isConnectionRequired(failure: unknown): failure is Fault & { readonly code: typeof REQUIRED } {
  return failure instanceof Fault && failure.code === REQUIRED;
}

/** The authorization server cannot be used. `cause`: for the log only. */
export function authorizationFailed(server: string, reason: string, cause?: unknown): Fault {
  const message = `Accounts of the MCP server '${server}' cannot be connected: ${reason}`;
  return new Fault("upstream-failed", message, { code: "mcp_authorization_failed", cause });
}
