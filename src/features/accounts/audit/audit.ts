/** Writes audit log entries in the transaction of the change. */

import { newId } from "../../../kernel/id.ts";
import type { Executor } from "../../../storage/database.ts";
import { insertAuditLog } from "./audit-log-queries.ts";

/** Author of a change and its address. */
export interface Actor {
  /** Key of the author; undefined for the operator's commands and configuration. */
  keyId: string | undefined;
  /** User who is signed in, or to whom the key belongs. */
  userId?: string | undefined;
  ipAddress: string | undefined;
  userAgent: string | undefined;
}

/** May do everything (`access`). */
export const OPERATOR = {
  keyId: undefined,
  userId: undefined,
  ipAddress: undefined,
  userAgent: undefined,
  access: undefined,
} as const satisfies Actor & { access: undefined };

type AuditType =
  | "api_key.created"
  | "api_key.updated"
  | "api_key.deleted"
  | "budget.created"
  | "budget.updated"
  | "budget.deleted"
  | "cache.purged"
  | "configuration.updated"
  | "eval.created"
  | "eval.deleted"
  | "eval.run.canceled"
  | "eval.run.created"
  | "eval.run.deleted"
  | "eval.updated"
  | "group.created"
  | "group.deleted"
  | "group.updated"
  | "invite.accepted"
  | "invite.deleted"
  | "invite.sent"
  | "guardrail.applied"
  | "login.succeeded"
  | "logout.succeeded"
  | "mcp_connection.created"
  | "mcp_connection.deleted"
  | "model.deleted"
  | "model.loaded"
  | "model.pulled"
  | "model.unloaded"
  | "organization.created"
  | "organization.archived"
  | "organization.updated"
  | "project.created"
  | "project.updated"
  | "project.archived"
  | "prompt.created"
  | "prompt.deleted"
  | "prompt.label.updated"
  | "prompt.updated"
  | "prompt.version.created"
  | "rate_limit.updated"
  | "request.content.exported"
  | "request.content.read"
  | "request.content.searched"
  | "role.assignment.created"
  | "role.assignment.deleted"
  | "role.created"
  | "role.deleted"
  | "role.updated"
  | "service_account.created"
  | "service_account.updated"
  | "service_account.deleted"
  | "user.added"
  | "user.deleted"
  | "user.erased"
  | "user.exported"
  | "user.updated";

export interface AuditEvent {
  type: AuditType;
  organizationId: string;
  /** Project of the change, if it is within one. */
  project?: { id: string; name: string } | undefined;
  /** ID of the changed resource. */
  resourceId: string;
  /** Visible details of the change; never a secret. */
  details: Readonly<Record<string, unknown>>;
}

const MAX_USER_AGENT_LENGTH = 512;

export async function recordAudit(executor: Executor, actor: Actor, event: AuditEvent, now: number): Promise<void> {
  await insertAuditLog(executor, {
    id: newId("audit_log_"),
    organizationId: event.organizationId,
    effectiveAt: now,
    type: event.type,
    actorKeyId: actor.keyId ?? null,
    actorUserId: actor.userId ?? null,
    ipAddress: actor.ipAddress ?? null,
    userAgent: actor.userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
    projectId: event.project?.id ?? null,
    projectName: event.project?.name ?? null,
    resourceId: event.resourceId,
    details: JSON.stringify(event.details),
  });
}
