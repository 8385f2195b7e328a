import { sql } from "kysely";
import { Fault } from "../../../kernel/faults.ts";
import type { Database, Executor } from "../../../storage/database.ts";
import type { McpGrantRow } from "../mcp-grant-rows.ts";
import { type GrantOwner, ownerColumns } from "./grant-owner.ts";

export async function findGrant(
  executor: Executor,
  owner: GrantOwner,
  server: string,
): Promise<McpGrantRow | undefined> {
  return executor
    .selectFrom("mcpGrants")
    .selectAll()
    .where(owner.type === "user" ? "userId" : "projectId", "=", owner.id)
    .where("organizationId", "=", owner.organizationId)
    .where("server", "=", server)
    .executeTakeFirst();
}

export async function findGrantById(executor: Executor, id: string): Promise<McpGrantRow | undefined> {
  return executor.selectFrom("mcpGrants").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Creates the owner's grant at a server, unless there is one. Resolves with it. */
export async function ensureGrant(
  executor: Executor,
  owner: GrantOwner,
  { id, server, now }: { id: string; server: string; now: number },
): Promise<McpGrantRow> {
  await executor
    .insertInto("mcpGrants")
    .values({
      id,
      organizationId: owner.organizationId,
      ...ownerColumns(owner),
      server,
      state: "pending",
      url: null,
      issuer: null,
      scopes: null,
      missingScopes: null,
      tokens: null,
      tokenExpiresAt: null,
      connectedAt: null,
      request: null,
      refreshingUntil: null,
      version: 0,
      createdAt: now,
    })
    .onConflict((conflict) => conflict.columns([owner.type === "user" ? "userId" : "projectId", "server"]).doNothing())
    .execute();
  const row = await findGrant(executor, owner, server);
  if (row !== undefined) return row;
  throw new Fault("conflict", "The account was disconnected meanwhile. Try again.", { code: "mcp_disconnected" });
}

/** Changes a grant if its tokens are still those of a version. Returns whether they were. */
export async function updateGrant(
  executor: Executor,
  { id, version }: Pick<McpGrantRow, "id" | "version">,
  change: Partial<McpGrantRow>,
): Promise<boolean> {
  const result = await executor
    .updateTable("mcpGrants")
    .set(change)
    .where("id", "=", id)
    .where("version", "=", version)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function setRequest(executor: Executor, id: string, request: Buffer): Promise<void> {
  await executor.updateTable("mcpGrants").set({ request }).where("id", "=", id).execute();
}

/** Takes a request, which works once. Returns whether it was there. */
export async function takeRequest(executor: Executor, id: string, request: Buffer): Promise<boolean> {
  const result = await executor
    .updateTable("mcpGrants")
    .set({ request: null })
    .where("id", "=", id)
    .where("request", "=", request)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Reserves the refresh of a grant's tokens. Returns false while another process refreshes them, or after one has. */
export async function claimRefresh(
  database: Database,
  { id, version }: Pick<McpGrantRow, "id" | "version">,
  claimMs: number,
): Promise<boolean> {
  const { now } = database;
  const result = await database.run((executor) =>
    executor
      .updateTable("mcpGrants")
      .set({ refreshingUntil: sql<number>`${now} + ${sql.lit(claimMs)}` })
      .where("id", "=", id)
      .where("version", "=", version)
      .where((where) => where.or([where("refreshingUntil", "is", null), where("refreshingUntil", "<", now)]))
      .executeTakeFirst(),
  );
  return result.numUpdatedRows > 0n;
}

/** Deletes a grant. Returns false where another request was first. */
export async function deleteGrant(executor: Executor, id: string): Promise<boolean> {
  const result = await executor.deleteFrom("mcpGrants").where("id", "=", id).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Deletes what a user connected. */
export async function deleteGrantsOfUser(executor: Executor, userId: string): Promise<void> {
  await executor.deleteFrom("mcpGrants").where("userId", "=", userId).execute();
}

/** Deletes grants of archived projects, and requests without tokens that began before a time. */
export async function deleteUnusable(executor: Executor, begunBefore: number): Promise<void> {
  await executor
    .deleteFrom("mcpGrants")
    .where("projectId", "in", (projects) =>
      projects.selectFrom("projects").select("id").where("archivedAt", "is not", null),
    )
    .execute();
  await executor.deleteFrom("mcpGrants").where("state", "=", "pending").where("createdAt", "<", begunBefore).execute();
}

/** Lists grants by ID, after one. */
export async function listGrantsAfter(executor: Executor, after: string, limit: number): Promise<McpGrantRow[]> {
  return executor.selectFrom("mcpGrants").selectAll().where("id", ">", after).orderBy("id").limit(limit).execute();
}

/** Replaces parts that were encrypted with a former key, unless they changed meanwhile. */
export async function replaceSealed(
  executor: Executor,
  row: McpGrantRow,
  parts: Partial<Pick<McpGrantRow, "tokens" | "request">>,
): Promise<void> {
  for (const part of ["tokens", "request"] as const) {
    const sealed = parts[part];
    if (sealed === undefined) continue;
    await executor
      .updateTable("mcpGrants")
      .set({ [part]: sealed })
      .where("id", "=", row.id)
      .where(part, "=", row[part])
      .execute();
  }
}
