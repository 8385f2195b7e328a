/** The cookie that holds a console session's token. */

import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Secret } from "../kernel/secret.ts";

export interface NewConsoleSession {
  token: Secret;
  /** Epoch milliseconds. */
  expiresAt: number;
}

const NAME = "parlance_session";

/** Returns the token that the browser sent, if any. */
export function sessionToken(request: FastifyRequest): string | undefined {
  const { cookie } = request.headers;
  if (cookie === undefined || !cookie.includes(NAME)) return undefined;
  return parseCookie(cookie)[nameFor(request)] || undefined;
}

export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, session: NewConsoleSession): void {
  writeCookie(request, reply, session.token.reveal(), Math.floor((session.expiresAt - Date.now()) / 1000));
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  writeCookie(request, reply, "", 0);
}

function writeCookie(request: FastifyRequest, reply: FastifyReply, value: string, maxAge: number): void {
  const secure = isEncrypted(request);
  const cookie = {
    name: nameFor(request),
    value,
    path: "/",
    httpOnly: true,
    sameSite: "strict",
    secure,
    maxAge,
  } as const;
  reply.header("set-cookie", stringifySetCookie(cookie));
}

/**
 * The prefix makes browsers refuse a cookie of this name that another host of the domain sets over HTTP. The port keeps
 * two services of one host apart, which share their cookies (RFC 6265, section 8.5).
 */
function nameFor(request: FastifyRequest): string {
  const [, port] = /:(\d{1,5})$/.exec(request.host) ?? [];
  const name = port === undefined ? NAME : `${NAME}_${port}`;
  return isEncrypted(request) ? `__Host-${name}` : name;
}

function isEncrypted(request: FastifyRequest): boolean {
  return request.protocol === "https";
}
