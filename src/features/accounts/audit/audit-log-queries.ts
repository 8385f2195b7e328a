import type { Executor } from "../../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../../storage/page.ts";
import type { AuditLogRow } from "../account-rows.ts";

/** Filter of audit logs: one value of each given field must match. */
export interface AuditLogFilter {
  types?: readonly string[] | undefined;
  projectIds?: readonly string[] | undefined;
  actorIds?: readonly string[] | undefined;
  resourceIds?: readonly string[] | undefined;
  /** Epoch milliseconds, inclusive. */
  from?: number | undefined;
  /** Epoch milliseconds, exclusive. */
  until?: number | undefined;
}

export async function insertAuditLog(executor: Executor, row: AuditLogRow): Promise<void> {
  await executor.insertInto("auditLogs").values(row).execute();
}

export async function listAuditLogs(
  executor: Executor,
  organizationId: string,
  filter: AuditLogFilter,
  request: PageRequest,
): Promise<Page<AuditLogRow>> {
  const all = executor.selectFrom("auditLogs").selectAll().where("organizationId", "=", organizationId);
  let list = all;
  if (filter.types !== undefined) list = list.where("type", "in", filter.types);
  if (filter.projectIds !== undefined) list = list.where("projectId", "in", filter.projectIds);
  const { actorIds } = filter;
  if (actorIds !== undefined) {
    list = list.where((where) => where.or([where("actorKeyId", "in", actorIds), where("actorUserId", "in", actorIds)]));
  }
  if (filter.resourceIds !== undefined) list = list.where("resourceId", "in", filter.resourceIds);
  if (filter.from !== undefined) list = list.where("effectiveAt", ">=", filter.from);
  if (filter.until !== undefined) list = list.where("effectiveAt", "<", filter.until);
  return readPage(request, "effectiveAt", all, list);
}
