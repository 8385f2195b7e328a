import { turns } from "../../kernel/async/turns.ts";
import { MINUTE_MS } from "../../kernel/durations.ts";
import type { Keyring } from "../../kernel/encryption/keyring.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { listOtherKeys } from "./list-contents.ts";
import {
  findArchivedProjectWithContent,
  removeContents,
  replaceContent,
  replaceTokens,
} from "./recorded-content-queries.ts";
import type { SealedContents } from "./sealed-content.ts";
import { type SearchTokens, wordsOf } from "./search-tokens.ts";

export interface ContentRetentionOptions {
  database: Database;
  keyring: Keyring;
  sealed: SealedContents;
  tokens: SearchTokens;
  logger: Logger;
}

const REMOVED_AT_ONCE = 200;
const SEALED_AT_ONCE = 20;

/** Removes content that has expired and that of archived projects, and encrypts older content with the current key. */
export function contentRetention({ database, keyring, sealed, tokens, logger }: ContentRetentionOptions): Retention {
  const removeExpired = async (now: number) => {
    const { count } = await database.transaction((executor) =>
      removeContents(executor, database.kind, { expiredAt: now }, REMOVED_AT_ONCE),
    );
    return count;
  };
  const removeOfArchived = async () => {
    const projectId = await database.run(findArchivedProjectWithContent);
    if (projectId === undefined) return 0;
    const { count } = await database.transaction((executor) =>
      removeContents(executor, database.kind, { projectId }, REMOVED_AT_ONCE),
    );
    return count;
  };
  let sealedUpTo = 0;
  const sealAgain = async () => {
    if (keyring.searchKeys.length === 1) return 0;
    const rows = await database.run((executor) =>
      listOtherKeys(executor, keyring.currentHeader, sealedUpTo, SEALED_AT_ONCE),
    );
    const turn = turns();
    for (const { number, id, projectId, content } of rows) {
      await turn();
      sealedUpTo = number;
      const opened = sealed.tryOpen({ projectId, id }, content);
      if (opened === undefined) continue;
      const tokensOfWords = tokens.index(projectId, wordsOf(opened));
      await database.transaction(async (executor) => {
        await replaceContent(executor, { id, projectId, content: sealed.seal({ projectId, id }, opened) });
        await replaceTokens(executor, database.kind, id, tokensOfWords);
      });
    }
    return rows.length;
  };
  return new Retention({
    subject: "recorded content",
    logger,
    intervalMs: MINUTE_MS,
    steps: [removeExpired, removeOfArchived, sealAgain],
  });
}
