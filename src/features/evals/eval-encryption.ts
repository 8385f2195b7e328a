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
  const isFormer = (column: "source" | "content") =>
    sql<boolean>`substr(${sql.ref(column)}, 1, ${header.length}) <> ${header}`;
  let lastRun = "";
  const runs = async () => {
    const listed = await database.run((executor) =>
      executor
        .selectFrom("evalRuns")
        .select(["id", "projectId"])
        .where("id", ">", lastRun)
        .where(isFormer("source"))
        .orderBy("id")
        .limit(SEALED_AT_ONCE)
        .execute(),
    );
    for (const { id, projectId } of listed) {
      lastRun = id;
      // One at a time: each may have 20 MB.
      const row = await database.run((executor) =>
        executor.selectFrom("evalRuns").select("source").where("id", "=", id).executeTakeFirst(),
      );
      const source = row && sealAgain({ table: "eval run", projectId, id }, row.source);
      if (source === undefined) continue;
      await database.run((executor) => executor.updateTable("evalRuns").set({ source }).where("id", "=", id).execute());
    }
    return listed.length;
  };
  let lastItem = "";
  const items = async () => {
    const listed = await database.run((executor) =>
      executor
        .selectFrom("evalItems")
        .innerJoin("evalRuns", "evalRuns.id", "evalItems.runId")
        .select(["evalItems.id", "evalItems.runId", "evalItems.position", "evalRuns.projectId"])
        .where("evalItems.id", ">", lastItem)
        .where(isFormer("content"))
        .orderBy("evalItems.id")
        .limit(SEALED_AT_ONCE)
        .execute(),
    );
    for (const { id, runId, position, projectId } of listed) {
      lastItem = id;
      const row = await database.run((executor) =>
        executor
          .selectFrom("evalItems")
          .select("content")
          .where("runId", "=", runId)
          .where("position", "=", position)
          .executeTakeFirst(),
      );
      const content = row && sealAgain({ table: "eval item", projectId, id }, row.content);
      if (content === undefined) continue;
      await database.run((executor) =>
        executor
          .updateTable("evalItems")
          .set({ content })
          .where("runId", "=", runId)
          .where("position", "=", position)
          .execute(),
      );
    }
    return listed.length;
  };
  const hasFormerKeys = keyring.searchKeys.length > 1;
  const steps = hasFormerKeys ? [runs, items] : [];
  return new Retention({ subject: "encryption of evals", logger, intervalMs: MINUTE_MS, steps });
}
