/** Who changed what, written with the change itself. */

import { insertAuditLog } from "../storage/audit-logs.ts";
import type { Executor } from "../storage/database.ts";
import { newId } from "./id.ts";

/** Who makes a change, and from where. */
export interface Actor {
  /** Undefined: the operator, by a command on the machine itself or by the configuration. */
  keyId: string | undefined;
  ipAddress: string | undefined;
  userAgent: string | undefined;
}

export const OPERATOR: Actor = { keyId: undefined, ipAddress: undefined, userAgent: undefined };

type AuditType =
  | "api_key.created"
  | "api_key.updated"
  | "api_key.deleted"
  | "organization.created"
  | "organization.archived"
  | "organization.updated"
  | "project.created"
  | "project.updated"
  | "project.archived"
  | "rate_limit.updated"
  | "service_account.created"
  | "service_account.updated"
  | "service_account.deleted";

export interface AuditEvent {
  type: AuditType;
  organizationId: string;
  /** For a change within a project. */
  project?: { id: string; name: string } | undefined;
  /** What was made, changed or ended. */
  resourceId: string;
  /** What is to be shown of the change; never a secret. */
  details: Readonly<Record<string, unknown>>;
}

const MAX_USER_AGENT_LENGTH = 512;

export async function recordAudit(executor: Executor, actor: Actor, event: AuditEvent, now: number): Promise<void> {
  await insertAuditLog(executor, {
    id: newId("audit_log"),
    organizationId: event.organizationId,
    effectiveAt: now,
    type: event.type,
    actorKeyId: actor.keyId ?? null,
    ipAddress: actor.ipAddress ?? null,
    userAgent: actor.userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
    projectId: event.project?.id ?? null,
    projectName: event.project?.name ?? null,
    resourceId: event.resourceId,
    details: JSON.stringify(event.details),
  });
}
