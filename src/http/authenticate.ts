/** Proves who asks, for every route of a scope, so that a new route cannot forget it. */

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Caller } from "../accounts/caller.ts";
import { Fault } from "../faults.ts";

export interface Authenticator {
  /** Throws a Fault for a key that is missing, malformed, unknown, revoked or expired. */
  authenticate(key: string | undefined): Promise<Caller>;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set in every scope that authenticates. */
    caller: Caller;
  }
}

/** Before the body is read, so that nobody without a key can make the server read one. */
export function authenticateScope(scope: FastifyInstance, accounts: Authenticator, kind: Caller["kind"]): void {
  scope.addHook("onRequest", async (request, reply) => {
    const caller = await accounts.authenticate(bearerKey(request));
    request.caller = caller;
    reply.header("openai-organization", caller.organizationId);
    if (caller.kind !== kind) throw wrongKind(kind);
  });
}

/** Undefined when no key was sent at all. */
function bearerKey(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization?.trim() ?? "";
  const [, key] = /^Bearer +(\S.*)$/i.exec(header) ?? [];
  if (key !== undefined || header === "" || /^Bearer$/i.test(header)) return key;
  const message = "The Authorization header must have the form `Bearer YOUR_KEY`.";
  throw new Fault("unauthenticated", message, { code: "invalid_api_key" });
}

function wrongKind(needed: Caller["kind"]): Fault {
  return needed === "project"
    ? new Fault("unauthenticated", "An admin key cannot call models; use a project's API key.", {
        code: "invalid_api_key",
      })
    : new Fault("forbidden", "This needs an admin key; a project's API key cannot administer.");
}
