/** Nobody gives or takes more than they have: otherwise a right to assign roles would be every right. */

import type { FastifyRequest } from "fastify";
import type { Access } from "../../../contracts/caller.ts";
import type { RolePermission } from "../../../contracts/permissions.ts";
import { allows } from "../../../http/access.ts";
import { Fault } from "../../../kernel/faults.ts";
import { actorOf } from "../audit/actor.ts";
import type { Actor } from "../audit/audit.ts";

/** Author of a change to roles, with what the author may do. */
export interface Author extends Actor {
  /** Undefined: everything. */
  access: Access | undefined;
}

export function authorOf(request: FastifyRequest): Author {
  return { ...actorOf(request), access: request.caller.access };
}

/** Throws a Fault unless the author has all these permissions, in the project or, without one, the organization. */
export function checkMayGrant(
  { access }: Author,
  permissions: readonly RolePermission[],
  projectId: string | undefined,
): void {
  const missing = permissions.find((permission) => !allows(access, permission, projectId));
  if (missing === undefined) return;
  const message = `You cannot give or take the permission \`${missing}\`, because you do not have it. Ask an owner.`;
  throw new Fault("forbidden", message, { code: "insufficient_permissions" });
}

/** Throws a Fault unless the author has everything that `target` contains. */
export function checkMayManage(author: Author, target: Access | undefined): void {
  if (target === undefined) return;
  checkMayGrant(author, target.organization, undefined);
  for (const [projectId, permissions] of Object.entries(target.projects)) checkMayGrant(author, permissions, projectId);
}
