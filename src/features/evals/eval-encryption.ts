/** Encrypts runs and results of former keys with the current one, so that a former key can be removed. */

import { sql } from "kysely";
import { MINUTE_MS } from "../../kernel/durations.ts";
import type { Keyring } from "../../kernel/encryption/keyring.ts";
import { Fault } from "../../kernel/faults.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import type { RowPlace, SealedRows } from "../responses/index.ts";

export interface EvalEncryptionOptions {
  database: Database;
  keyring: Keyring;
  content: SealedRows;
  logger: Logger;
}

const SEALED_AT_ONCE = 50;

export function evalEncryption({ database, keyring, content, logger }: EvalEncryptionOptions): Retention {
  const header = keyring.currentHeader;
  /** Undefined: no key of this service decrypts it. */
  const sealAgain = (place: RowPlace, sealed: Buffer): Buffer | undefined => {
    try {
      return content.seal(place, content.open(place, sealed));
    } catch (failure) {
      if (failure instanceof Fault) return undefined;
      throw failure;
    }
  };
  let lastRun = "";
  const runs = async () => {
    const rows = await database.run((executor) =>
      executor
        .selectFrom("evalRuns")
        .select(["id", "projectId", "source"])
        .where("id", ">", lastRun)
        .where(sql<boolean>`substr(source, 1, ${header.length}) <> ${header}`)
        .orderBy("id")
        .limit(SEALED_AT_ONCE)
        .execute(),
    );
    for (const { id, projectId, source: former } of rows) {
      lastRun = id;
      const source = sealAgain({ table: "eval run", projectId, id }, former);
      if (source === undefined) continue;
      await database.run((executor) => executor.updateTable("evalRuns").set({ source }).where("id", "=", id).execute());
    }
    return rows.length;
  };
  let lastItem = "";
  const items = async () => {
    const rows = await database.run((executor) =>
      executor
        .selectFrom("evalItems")
        .innerJoin("evalRuns", "evalRuns.id", "evalItems.runId")
        .select(["evalItems.id", "evalItems.runId", "evalItems.position", "evalItems.content", "evalRuns.projectId"])
        .where("evalItems.id", ">", lastItem)
        .where(sql<boolean>`substr(content, 1, ${header.length}) <> ${header}`)
        .orderBy("evalItems.id")
        .limit(SEALED_AT_ONCE)
        .execute(),
    );
    for (const { id, runId, position, projectId, content: former } of rows) {
      lastItem = id;
      const sealed = sealAgain({ table: "eval item", projectId, id }, former);
      if (sealed === undefined) continue;
      const change = { content: sealed };
      await database.run((executor) =>
        executor
          .updateTable("evalItems")
          .set(change)
          .where("runId", "=", runId)
          .where("position", "=", position)
          .execute(),
      );
    }
    return rows.length;
  };
  const hasFormerKeys = keyring.searchKeys.length > 1;
  const steps = hasFormerKeys ? [runs, items] : [];
  return new Retention({ subject: "encryption of evals", logger, intervalMs: MINUTE_MS, steps });
}
