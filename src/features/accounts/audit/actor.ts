import type { FastifyRequest } from "fastify";
import type { Actor } from "./audit.ts";
import type { ProjectAuthor } from "./project-audit.ts";

/** Returns the author of a change, for the audit log. */
export function actorOf(request: FastifyRequest): Actor {
  const { keyId, sessionId, userId, access, isOperator } = request.caller;
  const from = { ipAddress: request.ip, userAgent: request.headers["user-agent"] };
  return { keyId: isOperator ? undefined : keyId, sessionId, userId, access, ...from };
}

/** Returns the author of a change in a project, for the audit log. */
export function projectAuthorOf(request: FastifyRequest): ProjectAuthor {
  return { ...actorOf(request), organizationId: request.caller.organizationId };
}
