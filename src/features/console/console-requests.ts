import type { FastifyInstance, FastifyRequest } from "fastify";
import type { CountWrongKey } from "../../http/authenticate.ts";
import { refuseOtherSites } from "../../http/same-origin.ts";
import { sessionToken } from "../../http/session-cookie.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Actor } from "../accounts/index.ts";
import type { UserSessionRow } from "../sign-on/index.ts";
import type { ConsoleSessionParts } from "./describe-session.ts";

/** Refuses pages of other sites, and keeps what begins or describes a session out of caches. */
export function guardSessions(scope: FastifyInstance): void {
  scope.addHook("onRequest", (request, reply, done) => {
    reply.header("cache-control", "no-store");
    refuseOtherSites(request);
    done();
  });
}

/** Author of a request before anybody is signed in. */
export function actorOf(request: FastifyRequest): Actor {
  return { keyId: undefined, ipAddress: request.ip, userAgent: request.headers["user-agent"] };
}

/** Counts wrong secrets of an address, such as codes and tokens, among its wrong keys. */
export function countFailures(countWrongKey: CountWrongKey) {
  return async <Result>(request: FastifyRequest, attempt: () => Promise<Result>): Promise<Result> => {
    try {
      return await attempt();
    } catch (failure) {
      const isGuess =
        failure instanceof Fault && (failure.kind === "unauthenticated" || failure.code === "invite_not_found");
      if (isGuess) await countWrongKey(request.ip);
      throw failure;
    }
  };
}

/** Throws a Fault without the session of a user. */
export async function requireUserSession(
  { accounts, userSessions }: Pick<ConsoleSessionParts, "accounts" | "userSessions">,
  request: FastifyRequest,
): Promise<UserSessionRow> {
  const token = sessionToken(request);
  const caller = token === undefined ? undefined : await accounts.authenticateSession(token, "admin");
  const session = token === undefined || caller === undefined ? undefined : await userSessions.find(token);
  if (session !== undefined) return session;
  throw new Fault("unauthenticated", "This needs the session of a user. Sign in again.", { code: "session_ended" });
}
