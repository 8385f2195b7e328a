/** Writes what guardrails did to the audit log, some entries at a time. */

import type { GuardedRequest } from "../../inference/guardrails/guards.ts";
import { newId } from "../../kernel/id.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database, Executor } from "../../storage/database.ts";
import type { AuditLogRow } from "../accounts/index.ts";

const WRITE_MS = 500;
/** Entries that wait while the database is away; the request history has them too. */
const MAX_HELD = 10_000;

export class GuardrailAudit {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #poll: Poll;
  #held: AuditLogRow[] = [];
  #writing: Promise<void> = Promise.resolve();

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
    this.#poll = new Poll(() => this.flush(), { everyMs: WRITE_MS });
  }

  /** Adds an entry if a guardrail masked, blocked, reported or failed. */
  add({ caller, model, report }: GuardedRequest): void {
    if (!report.hasIntervened || this.#held.length >= MAX_HELD) return;
    const guardrails = report.records.filter(({ outcome }) => outcome !== "passed");
    this.#held.push({
      id: newId("audit_log_"),
      organizationId: caller.organizationId,
      effectiveAt: Date.now(),
      type: "guardrail.applied",
      actorKeyId: caller.keyId,
      actorUserId: null,
      ipAddress: null,
      userAgent: null,
      projectId: caller.projectId ?? null,
      projectName: null,
      resourceId: report.requestId ?? caller.projectId ?? caller.organizationId,
      // PostgreSQL refuses text with NUL (SQLSTATE 22021).
      details: JSON.stringify({ model: model.slice(0, 200).replaceAll("\0", ""), guardrails }),
    });
  }

  /** Writes what is held; keeps it for the next attempt while the database is unavailable. Never throws. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const rows = this.#held;
    if (rows.length === 0) return;
    this.#held = [];
    try {
      await this.#database.transaction((transaction) => insertInBatches(transaction, rows));
    } catch (error) {
      this.#held.unshift(...rows);
      this.#logger.debug({ error: String(error) }, "audit entries of guardrails not written to the database yet");
    }
  }

  async close(): Promise<void> {
    this.#poll.stop();
    await this.flush();
  }
}

/** Rows of one statement: SQLite takes a bounded number of values. */
const ROWS_AT_ONCE = 100;

async function insertInBatches(executor: Executor, rows: readonly AuditLogRow[]): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    await executor
      .insertInto("auditLogs")
      .values(rows.slice(start, start + ROWS_AT_ONCE))
      .execute();
  }
}
