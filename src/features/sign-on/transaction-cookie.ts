/** The cookie that holds a sign-in on its way through the provider: one for each, so that several windows can sign in. */

import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import { TRANSACTION_MS } from "./sign-on-transaction.ts";

const NAME = "parlance_sign_on";
const STATE_LENGTH = 12;

/** `SameSite=Lax`: browsers send it with the navigation from the provider, but not with requests of other sites' pages. */
export function setTransactionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  state: string,
  sealed: string,
): void {
  writeCookie(request, reply, state, sealed, TRANSACTION_MS / 1000);
}

export function clearTransactionCookie(request: FastifyRequest, reply: FastifyReply, state: string): void {
  writeCookie(request, reply, state, "", 0);
}

export function transactionCookie(request: FastifyRequest, state: string): string | undefined {
  return parseCookie(request.headers.cookie ?? "")[nameFor(request, state)];
}

function writeCookie(request: FastifyRequest, reply: FastifyReply, state: string, value: string, maxAge: number): void {
  const secure = request.protocol === "https";
  const name = nameFor(request, state);
  reply.header(
    "set-cookie",
    stringifySetCookie({ name, value, path: "/", httpOnly: true, sameSite: "lax", secure, maxAge }),
  );
}

/** The prefix keeps other hosts of the domain from setting the cookie, with which they would sign a person in as another. */
function nameFor(request: FastifyRequest, state: string): string {
  const name = `${NAME}_${state.slice(0, STATE_LENGTH).replace(/[^\w-]/g, "")}`;
  return request.protocol === "https" ? `__Host-${name}` : name;
}
