import { DAY_MS } from "../../kernel/durations.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { removeConversationsBefore } from "./conversation-queries.ts";
import {
  listArchivedProjectsWithContent,
  removeResponsesBefore,
  removeStoredContentOf,
} from "./stored-response-queries.ts";

export interface ResponseRetentionOptions {
  database: Database;
  logger: Logger;
  keepDays: number;
}

const REMOVED_AT_ONCE = 100;

/** Deletes responses and conversations that were not used for the configured days, and those of archived projects. */
export function responseRetention({ database, logger, keepDays }: ResponseRetentionOptions): Retention {
  const unused = [removeResponsesBefore, removeConversationsBefore].map(
    (remove) => (now: number) =>
      database.transaction((executor) => remove(executor, now - keepDays * DAY_MS, REMOVED_AT_ONCE)),
  );
  const removeOfArchivedProject = async () => {
    const [projectId] = await database.run(listArchivedProjectsWithContent);
    if (projectId === undefined) return 0;
    await database.transaction((executor) => removeStoredContentOf(executor, projectId));
    return 1;
  };
  return new Retention({ subject: "responses", logger, steps: [...unused, removeOfArchivedProject] });
}
