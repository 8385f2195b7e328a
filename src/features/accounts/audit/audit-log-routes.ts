import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../../http/operation.ts";
import {
  AuditLogListQuery,
  toAuditLog,
  toAuditLogFilter,
} from "../../../wire/openai/organization/organization-audit-logs.ts";
import { toListBody } from "../../../wire/openai/organization/organization-list.ts";
import { AuditLogList } from "../../../wire/openapi/organization-answers.ts";
import type { Accounts } from "../accounts.ts";

/** GET /v1/organization/audit_logs, newest first */
export function auditLogs(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "GET /audit_logs",
      {
        summary: "Lists audit events, newest first.",
        tag: "Reports",
        permission: "admin",
        requires: "organization.audit_logs.read",
        query: AuditLogListQuery,
        answer: AuditLogList,
      },
      async ({ query, caller }) => {
        const { after, before, limit } = query;
        const filter = toAuditLogFilter(query);
        const page = { after, before, limit, order: "desc" } as const;
        const entries = await accounts.auditTrail.list(caller.organizationId, filter, page);
        const users = await accounts.users.retrieveMany(
          entries.entries.flatMap(({ actorUserId }) => actorUserId ?? []),
        );
        return toListBody(entries, (entry) => toAuditLog(entry, (id) => users.get(id)?.email));
      },
    ),
  );
}
