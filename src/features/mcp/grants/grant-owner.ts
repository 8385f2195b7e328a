/** Whose account at a server a caller uses. */

import type { Caller } from "../../../contracts/caller.ts";
import type { McpGrantRow } from "../mcp-grant-rows.ts";

/** Permission with which a person connects and disconnects the account of a project. */
export const PROJECT_ACCOUNT = "project.keys.write";

/** The person who signed in or to whom the key belongs; for a key without a person, its project. */
export interface GrantOwner {
  type: "user" | "project";
  id: string;
  organizationId: string;
}

/** Undefined for an admin key, which has neither. */
export function grantOwnerOf({ userId, projectId, organizationId }: Caller): GrantOwner | undefined {
  if (userId !== undefined) return { type: "user", id: userId, organizationId };
  return projectId === undefined ? undefined : { type: "project", id: projectId, organizationId };
}

export function ownerColumns({ type, id }: GrantOwner): Pick<McpGrantRow, "userId" | "projectId"> {
  return type === "user" ? { userId: id, projectId: null } : { userId: null, projectId: id };
}
