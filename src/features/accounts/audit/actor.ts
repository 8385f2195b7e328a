import type { FastifyRequest } from "fastify";
import { isSelfService } from "../../../http/access.ts";
import type { Actor } from "./audit.ts";
import type { ProjectAuthor } from "./project-audit.ts";

/** Returns the author of a change, for the audit log, counted unless an administrator's permission admitted the request. */
export function actorOf(request: FastifyRequest): Actor {
  const { caller, params, routeOptions } = request;
  const { keyId, sessionId, userId, access, isOperator } = caller;
  const isCounted = isSelfService(caller, routeOptions.config.operation, params as { project?: string });
  return {
    ...{ keyId: isOperator ? undefined : keyId, sessionId, userId, access },
    countedAs: isCounted ? `changes of ${userId ?? keyId}` : undefined,
    ...{ ipAddress: request.ip, userAgent: request.headers["user-agent"] },
  };
}

/** Returns the author of a change in a project, for the audit log. */
export function projectAuthorOf(request: FastifyRequest): ProjectAuthor {
  return { ...actorOf(request), organizationId: request.caller.organizationId };
}
