/** Audit trail: changes, their authors and addresses. */

import type { Database } from "../../../storage/database.ts";
import type { Page, PageRequest } from "../../../storage/page.ts";
import type { AuditLogRow } from "../account-rows.ts";
import { type Actor, type AuditEvent, recordAudit } from "./audit.ts";
import { type AuditLogFilter, listAuditLogs } from "./audit-log-queries.ts";

export type AuditEntry = Omit<AuditLogRow, "details"> & { details: Readonly<Record<string, unknown>> };

export class AuditTrail {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Records what changes no account, such as loading a model. */
  async record(actor: Actor, event: AuditEvent): Promise<void> {
    await this.#database.run((executor) => recordAudit(executor, actor, event, Date.now()));
  }

  async list(organizationId: string, filter: AuditLogFilter, request: PageRequest): Promise<Page<AuditEntry>> {
    const page = await this.#database.run((executor) => listAuditLogs(executor, organizationId, filter, request));
    return { ...page, entries: page.entries.map((row) => ({ ...row, details: JSON.parse(row.details) })) };
  }
}
