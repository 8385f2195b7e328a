/** Which usage and requests a caller may see. */

import { type RawBuilder, sql } from "kysely";
import type { Caller } from "../../contracts/caller.ts";
import { projectsWith } from "../../http/access.ts";

/** What belongs to any of these projects, or to this user. */
export interface Visibility {
  projectIds: readonly string[];
  userId: string | undefined;
}

/** Undefined: everything in the organization. */
export function visibilityOf(caller: Caller): Visibility | undefined {
  const { kind, projectId, access } = caller;
  // What users see of themselves is in no list of permissions.
  const userId = caller.isRestricted ? undefined : caller.userId;
  const allowed = projectsWith(access, "project.usage.read");
  if (kind === "project" && projectId !== undefined) {
    return { projectIds: allowed?.includes(projectId) === false ? [] : [projectId], userId };
  }
  return allowed && { projectIds: allowed, userId };
}

/** Condition on columns `project_id` and `key_id`. Usage in a session of a user has the ID of the user as its key. */
export function isVisible(visibility: Visibility | undefined): RawBuilder<boolean> {
  if (visibility === undefined) return sql`1 = 1`;
  const { projectIds, userId } = visibility;
  const [project, key] = [sql.ref("projectId"), sql.ref("keyId")];
  const parts = [
    ...(projectIds.length === 0 ? [] : [sql`${project} in (${sql.join(projectIds)})`]),
    ...(userId === undefined
      ? []
      : [
          sql`${key} = ${userId}`,
          sql`${key} in (select id from ${sql.table("apiKeys")} where ${sql.ref("userId")} = ${userId})`,
        ]),
  ];
  return parts.length === 0 ? sql`1 = 0` : sql`(${sql.join(parts, sql` or `)})`;
}
