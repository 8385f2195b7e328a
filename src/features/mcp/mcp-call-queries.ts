import type { Executor } from "../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../storage/page.ts";
import { isVisible, type Visibility } from "../usage/index.ts";
import type { McpCallRow } from "./mcp-call-rows.ts";

export interface McpCallsRequest extends PageRequest {
  organizationId: string;
  /** Undefined: everything in the organization. */
  visibility: Visibility | undefined;
  server?: string | undefined;
  tool?: string | undefined;
  projectId?: string | undefined;
  outcome?: McpCallRow["outcome"] | undefined;
}

export async function insertMcpCalls(executor: Executor, rows: readonly McpCallRow[]): Promise<void> {
  await executor.insertInto("mcpCalls").values(rows).execute();
}

export async function listMcpCalls(executor: Executor, request: McpCallsRequest): Promise<Page<McpCallRow>> {
  const { organizationId, visibility, server, tool, projectId, outcome } = request;
  const scope = executor
    .selectFrom("mcpCalls")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where(isVisible(visibility));
  const list = scope
    .$if(server !== undefined, (query) => query.where("server", "=", server ?? ""))
    .$if(tool !== undefined, (query) => query.where("tool", "=", tool ?? ""))
    .$if(projectId !== undefined, (query) => query.where("projectId", "=", projectId ?? ""))
    .$if(outcome !== undefined, (query) => query.where("outcome", "=", outcome ?? "completed"));
  return readPage(request, "createdAt", scope, list);
}

/** Removes at most `max` calls from before `time` and returns their number. */
export async function removeMcpCallsBefore(executor: Executor, time: number, max: number): Promise<number> {
  const oldest = executor.selectFrom("mcpCalls").select("id").where("createdAt", "<", time).limit(max);
  const { numDeletedRows } = await executor.deleteFrom("mcpCalls").where("id", "in", oldest).executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
