/** Writes audit log entries in the transaction of the change. */

import type { AuditEventType } from "../../../contracts/audit-events.ts";
import type { Access } from "../../../contracts/caller.ts";
import { newId } from "../../../kernel/id.ts";
import type { Executor } from "../../../storage/database.ts";
import { insertAuditLog } from "./audit-log-queries.ts";

/** Author of a change and its address. */
export interface Actor {
  /** Key of the author; undefined for the operator's commands and configuration. */
  keyId: string | undefined;
  /** User who is signed in, or to whom the key belongs. */
  userId?: string | undefined;
  /** Session of the console with which the request came. */
  sessionId?: string | undefined;
  /** What the author could do when the request was admitted; undefined: everything. */
  access?: Access | undefined;
  /**
   * Name by which the change is counted and limited: one that people may make only because it is about what is their own.
   * Undefined: one by an administrator, or one that a secret of somebody else allows once.
   */
  countedAs?: `${"changes" | "sign-ins"} of ${string}` | undefined;
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

export interface AuditEvent {
  type: AuditEventType;
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
