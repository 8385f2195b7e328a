/** Who may complete the connection of an account. */

import type { Executor } from "../../../storage/database.ts";
import { checkMayGrant, mayStillGrant } from "../../accounts/index.ts";
import type { McpGrantRow } from "../mcp-grant-rows.ts";
import { PROJECT_ACCOUNT } from "./grant-owner.ts";
import type { GrantRequest } from "./sealed-grants.ts";

/** Whether the person or key that began to connect an account may still do so, and the session has not ended. */
export async function mayConnect(
  executor: Executor,
  { organizationId, projectId }: McpGrantRow,
  author: GrantRequest["author"],
): Promise<boolean> {
  if (author === undefined) return true;
  const now = Date.now();
  if (!(await mayStillGrant(executor, organizationId, { ...author, now }, () => {}))) return false;
  if (projectId === null || author.userId === null) return true;
  // The key of a person allows less than the person's own session.
  return mayStillGrant(executor, organizationId, { ...author, keyId: null, now }, (person) =>
    checkMayGrant(person, [PROJECT_ACCOUNT], projectId),
  );
}
