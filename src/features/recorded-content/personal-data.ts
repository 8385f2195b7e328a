import { turns } from "../../kernel/async/turns.ts";
import type { Person, PersonalData, QueriedRows } from "../../storage/personal-data.ts";
import { listContentsOf, listFeedbackOf, type PersonOfContent } from "./personal-queries.ts";
import { findContent, purgeRemovedTokens, removeContents } from "./recorded-content-queries.ts";

const AT_ONCE = 50;

/** Content of requests of the person's keys and sessions, and of those that name the person as their end user. */
const contentsOfPerson: QueriedRows<"recordedContents"> = {
  columns: ["keyId", "endUser"],
  async *read({ database, recorded }, person) {
    const turn = turns();
    for (let after = 0; ; ) {
      const rows = await database.run((executor) => listContentsOf(executor, toAuthor(person), after, AT_ONCE));
      for (const { number: _number, ...row } of rows) {
        await turn();
        // One at a time: each may have megabytes.
        const found = await database.run((executor) => findContent(executor, row.organizationId, row.id));
        if (found !== undefined) yield { ...row, content: recorded?.sealed.tryOpen(row, found.content) ?? null };
      }
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.number;
    }
  },
  async erase({ database }, person) {
    let erased = 0;
    for (;;) {
      const { count } = await database.transaction(async (executor) => {
        const rows = await listContentsOf(executor, toAuthor(person), 0, AT_ONCE);
        return removeContents(executor, database.kind, { ids: rows.map(({ id }) => id) }, AT_ONCE);
      });
      if (count === 0) break;
      erased += count;
    }
    // Always: an earlier erasure may have failed before it.
    await database.run((executor) => purgeRemovedTokens(executor, database.kind));
    return erased;
  },
};

const feedbackOfPerson: QueriedRows<"requestFeedback"> = {
  columns: ["keyId", "userId"],
  async *read({ database, recorded }, person) {
    const rows = await database.run((executor) => listFeedbackOf(executor, toAuthor(person)));
    for (const { comment, ...row } of rows) {
      yield { ...row, comment: comment && recorded?.openComment(row.requestId, comment) };
    }
  },
  async erase({ database }, person) {
    const { caller, user } = toAuthor(person);
    const { numDeletedRows } = await database.run((executor) =>
      executor
        .deleteFrom("requestFeedback")
        .where(({ eb, or }) => or([eb("keyId", "in", caller), eb("userId", "in", user)]))
        .executeTakeFirstOrThrow(),
    );
    return Number(numDeletedRows);
  },
};

/** An empty list is not SQL. */
function toAuthor({ organizationId, identifiers: { caller, endUser, user } }: Person): PersonOfContent {
  const nonEmpty = (list: readonly string[]) => (list.length === 0 ? [""] : list);
  return { organizationId, caller: nonEmpty(caller), endUser: nonEmpty(endUser), user: nonEmpty(user) };
}

export const recordedContentData = {
  recordedContents: { rows: [contentsOfPerson], texts: { columns: { model: "label" }, within: "organizationId" } },
  requestFeedback: { rows: [feedbackOfPerson], impersonal: { prompt: "A stored prompt." } },
} as const satisfies PersonalData;
