/**
 * Names in the configuration stand for what they named at first. Each is resolved once, when it is unique, and its ID is
 * stored: otherwise whoever renames or creates a resource takes the place of another one.
 */

import type { Executor } from "../../storage/database.ts";
import type { PersonalData } from "../../storage/personal-data.ts";
import { toNameKey } from "./groups/group-queries.ts";

type NamedKind = "project" | "role" | "service account";

/** Row of a name and the ID that it stands for. */
interface ResolvedNameRow {
  organizationId: string;
  /** Organization or project in which the name is looked up. */
  scopeId: string;
  kind: NamedKind;
  name: string;
  targetId: string;
  /** Epoch milliseconds. */
  createdAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    resolvedNames: ResolvedNameRow;
  }
}

/** `text`: ID or name. */
export interface NameReference extends Pick<ResolvedNameRow, "organizationId" | "scopeId" | "kind"> {
  text: string;
}

/** ID, or why there is none. */
export type Resolution = { id: string; problem?: undefined } | { id?: undefined; problem: string };

type Lookup = (executor: Executor, scopeId: string, column: "id" | "name", value: string) => Promise<{ id: string }[]>;

const LOOKUPS: Readonly<Record<NamedKind, Lookup>> = {
  project: (executor, scopeId, column, value) =>
    executor
      .selectFrom("projects")
      .select("id")
      .where("organizationId", "=", scopeId)
      .where("archivedAt", "is", null)
      .where(column, "=", value)
      .execute(),
  role: (executor, scopeId, column, value) =>
    executor
      .selectFrom("roles")
      .select("id")
      .where("scopeId", "=", scopeId)
      .where(column === "id" ? "id" : "nameKey", "=", column === "id" ? value : toNameKey(value))
      .execute(),
  "service account": (executor, scopeId, column, value) =>
    executor
      .selectFrom("serviceAccounts")
      .select("id")
      .where("projectId", "=", scopeId)
      .where("deletedAt", "is", null)
      .where(column, "=", value)
      .execute(),
};

/** Returns the ID of a project, role or service account that is not archived or deleted. Stores what a name stands for. */
export async function resolveName(executor: Executor, reference: NameReference, now: number): Promise<Resolution> {
  const { scopeId, kind, text } = reference;
  const find = (column: "id" | "name", value: string) => LOOKUPS[kind](executor, scopeId, column, value);
  const [byId] = await find("id", text);
  if (byId !== undefined) return { id: byId.id };
  const targetId = (await findTarget(executor, reference)) ?? (await bind(executor, reference, find, now));
  if (targetId === "ambiguous") {
    return { problem: `Several ${kind}s have the name \`${text}\`. Set the ID of one in its place.` };
  }
  if (targetId === undefined) return { problem: `There is no ${kind} \`${text}\`.` };
  const [target] = await find("id", targetId);
  if (target !== undefined) return { id: target.id };
  return {
    problem: `The ${kind} that \`${text}\` stood for was ${END[kind]}. Set the ID of another one in its place.`,
  };
}

const END: Readonly<Record<NamedKind, string>> = {
  project: "archived",
  role: "deleted",
  "service account": "deleted",
};

async function bind(
  executor: Executor,
  { text, ...reference }: NameReference,
  find: (column: "name", value: string) => Promise<{ id: string }[]>,
  now: number,
): Promise<string | undefined> {
  const matches = await find("name", text);
  if (matches.length > 1) return "ambiguous";
  const [match] = matches;
  if (match === undefined) return undefined;
  await executor
    .insertInto("resolvedNames")
    .values({ ...reference, name: text, targetId: match.id, createdAt: now })
    .onConflict((conflict) => conflict.columns(["scopeId", "kind", "name"]).doNothing())
    .execute();
  // Another replica may have been first.
  return findTarget(executor, { text, ...reference });
}

async function findTarget(executor: Executor, { scopeId, kind, text }: NameReference): Promise<string | undefined> {
  const row = await executor
    .selectFrom("resolvedNames")
    .select("targetId")
    .where("scopeId", "=", scopeId)
    .where("kind", "=", kind)
    .where("name", "=", text)
    .executeTakeFirst();
  return row?.targetId;
}

export const resolvedNameData = {
  resolvedNames: {
    reason: "Names of resources; persons are in other tables.",
    impersonal: { name: "Name in the configuration." },
  },
} as const satisfies PersonalData;
