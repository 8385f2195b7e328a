/** Cookies of requests on their way through a provider: one for each, so that several windows can begin one. */

import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import { MINUTE_MS } from "../../kernel/durations.ts";

/** Time for a request on its way through the provider. */
export const TRANSACTION_MS = 10 * MINUTE_MS;

/** `parlance_sign_on`: of a sign-in. `parlance_mcp_grant`: of an account at an MCP server. */
type CookieName = "parlance_sign_on" | "parlance_mcp_grant";

const STATE_LENGTH = 12;

/** `SameSite=Lax`: browsers send it with the navigation from the provider, but not with requests of other sites' pages. */
export function setTransactionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  state: string,
  sealed: string,
  cookie: CookieName = "parlance_sign_on",
): void {
  writeCookie(request, reply, nameFor(request, state, cookie), sealed, TRANSACTION_MS / 1000);
}

export function clearTransactionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  state: string,
  cookie: CookieName = "parlance_sign_on",
): void {
  writeCookie(request, reply, nameFor(request, state, cookie), "", 0);
}

export function transactionCookie(
  request: FastifyRequest,
  state: string,
  cookie: CookieName = "parlance_sign_on",
): string | undefined {
  return parseCookie(request.headers.cookie ?? "")[nameFor(request, state, cookie)];
}

function writeCookie(request: FastifyRequest, reply: FastifyReply, name: string, value: string, maxAge: number): void {
  const secure = request.protocol === "https";
  reply.header(
    "set-cookie",
    stringifySetCookie({ name, value, path: "/", httpOnly: true, sameSite: "lax", secure, maxAge }),
  );
}

/** The prefix keeps other hosts of the domain from setting the cookie, with which they would sign a person in as another. */
function nameFor(request: FastifyRequest, state: string, cookie: CookieName): string {
  const name = `${cookie}_${state.slice(-STATE_LENGTH).replace(/[^\w-]/g, "")}`;
  return request.protocol === "https" ? `__Host-${name}` : name;
}
