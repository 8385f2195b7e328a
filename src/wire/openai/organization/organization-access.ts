/** Answer of GET /v1/organization/users/{user}/access. */

import type { AnswerOf } from "../../openapi/named.ts";
import type { UserAccess } from "../../openapi/people-answers.ts";

interface ShownGrant {
  roleId: string;
  roleName: string;
  permissions: readonly string[];
  /** Undefined: the organization. */
  projectId: string | undefined;
  source: { type: "user" | "group"; id: string; name: string };
}

export function toUserAccess(
  userId: string,
  grants: readonly ShownGrant[],
  projectName: (id: string) => string,
): AnswerOf<typeof UserAccess> {
  return {
    object: "organization.user.access" as const,
    user_id: userId,
    roles: grants.map(({ roleId, roleName, permissions, projectId, source }) => ({
      role: { id: roleId, name: roleName },
      project: projectId === undefined ? null : { id: projectId, name: projectName(projectId) },
      group: source.type === "group" ? { id: source.id, name: source.name } : null,
      permissions: [...permissions],
    })),
  };
}
