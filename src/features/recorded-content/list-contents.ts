import { sql } from "kysely";
import type { Database, Executor } from "../../storage/database.ts";
import { firstWithin, MAX_PAGE_BYTES } from "../../storage/first-within.ts";
import { CONTENT_COLUMNS, type ContentRow } from "./recorded-content-queries.ts";

type Kind = Database["kind"];

export interface ContentSelection {
  organizationId: string;
  projectIds: readonly string[];
  isCompletion?: boolean | undefined;
  model?: string | undefined;
  /** Epoch milliseconds: from, and before. */
  from?: number | undefined;
  until?: number | undefined;
  order: "asc" | "desc";
  /** Numbers after this one in the order. */
  after: number | undefined;
  limit: number;
  /** Tokens of which a row has all of one list. */
  tokens?: readonly (readonly string[])[] | undefined;
}

interface ContentPage {
  rows: ContentRow[];
  /** Number after which the next page begins; undefined at the end. */
  next: number | undefined;
}

/** Reads content by its number, which increases with the time. A page of large content ends before its limit. */
export async function listContents(executor: Executor, kind: Kind, selection: ContentSelection): Promise<ContentPage> {
  const { organizationId, projectIds, isCompletion, model, from, until, order, after, limit, tokens } = selection;
  if (projectIds.length === 0) return { rows: [], next: undefined };
  let query = executor
    .selectFrom("recordedContents")
    .select(["number", "bytes"])
    .where("organizationId", "=", organizationId)
    .where("projectId", "in", projectIds)
    .orderBy("number", order)
    .limit(limit);
  if (isCompletion === true) query = query.where("completionId", "is not", null);
  if (model !== undefined) query = query.where("model", "=", model);
  if (from !== undefined) query = query.where("at", ">=", from);
  if (until !== undefined) query = query.where("at", "<", until);
  if (after !== undefined) query = query.where("number", order === "asc" ? ">" : "<", after);
  if (tokens !== undefined) query = query.where(matches(kind, selection, tokens));
  const found = await query.execute();
  const numbers = firstWithin(MAX_PAGE_BYTES, found).map(({ number }) => number);
  const isLast = found.length < limit && numbers.length === found.length;
  const next = isLast ? await lastMatch(executor, kind, selection) : numbers.at(-1);
  return { rows: await readContents(executor, numbers, order), next };
}

/**
 * Reads content that another key than the current one encrypted, in the order of numbers; `header` is what the current
 * one begins with.
 */
export async function listOtherKeys(
  executor: Executor,
  header: Buffer,
  after: number,
  max: number,
): Promise<ContentRow[]> {
  const found = await executor
    .selectFrom("recordedContents")
    .select(["number", "bytes"])
    .where("number", ">", after)
    .where(sql<boolean>`substr(content, 1, ${header.length}) <> ${header}`)
    .orderBy("number")
    .limit(max)
    .execute();
  const numbers = firstWithin(MAX_PAGE_BYTES, found).map(({ number }) => number);
  return readContents(executor, numbers, "asc");
}

async function readContents(
  executor: Executor,
  numbers: readonly number[],
  order: ContentSelection["order"],
): Promise<ContentRow[]> {
  if (numbers.length === 0) return [];
  const all = executor.selectFrom("recordedContents").select(CONTENT_COLUMNS);
  return all.where("number", "in", numbers).orderBy("number", order).execute();
}

/** Rows of the index that one query reads at most. */
const MAX_MATCHES = 2000;

type Tokens = readonly (readonly string[])[];

function matches(kind: Kind, selection: ContentSelection, tokens: Tokens) {
  if (kind === "postgresql") return sql<boolean>`tokens @@ ${anyOf(tokens, " & ", " | ", "'")}::tsquery`;
  return sql<boolean>`number in (${matchesInIndex(selection, tokens)} limit ${MAX_MATCHES})`;
}

/**
 * The match at which a query of the index stopped although others follow, such as where the first ones are of another
 * time; undefined: it read all.
 */
async function lastMatch(executor: Executor, kind: Kind, selection: ContentSelection): Promise<number | undefined> {
  const { tokens } = selection;
  if (kind === "postgresql" || tokens === undefined) return undefined;
  const last = sql<{ rowid: number }>`${matchesInIndex(selection, tokens)} limit 1 offset ${MAX_MATCHES - 1}`;
  return (await last.execute(executor)).rows[0]?.rowid;
}

function matchesInIndex({ after, order }: ContentSelection, tokens: Tokens) {
  const next =
    order === "asc"
      ? sql`rowid > ${after ?? 0} order by rowid`
      : sql`rowid < ${after ?? Number.MAX_SAFE_INTEGER} order by rowid desc`;
  return sql`select rowid from recorded_index where recorded_index match ${anyOf(tokens, " AND ", " OR ", '"')} and ${next}`;
}

/** Tokens are hexadecimal digits, so that they need no escapes. */
function anyOf(tokens: Tokens, and: string, or: string, quote: string): string {
  return tokens.map((all) => `(${all.map((token) => `${quote}${token}${quote}`).join(and)})`).join(or);
}
