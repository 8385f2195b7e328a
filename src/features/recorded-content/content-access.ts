/** Who may read recorded content, and what the audit log says of each look. */

import type { FastifyRequest } from "fastify";
import type { Caller } from "../../contracts/caller.ts";
import { allows, projectsWith } from "../../http/access.ts";
import { Fault } from "../../kernel/faults.ts";
import { type Accounts, actorOf } from "../accounts/index.ts";

/** Decides whether a caller may read content of a project. A project's key without a user may not: it is in programs. */
export function mayReadContent({ kind, access, projectId: ofKey }: Caller, projectId: string): boolean {
  if (kind === "project" && (access === undefined || ofKey !== projectId)) return false;
  return allows(access, "project.content.read", projectId);
}

/** Returns the projects whose content a caller may read; undefined: all. Throws a Fault for a caller without any. */
export function readableProjects({ kind, access, projectId }: Caller): readonly string[] | undefined {
  const allowed = projectsWith(access, "project.content.read");
  if (kind === "admin") {
    if (allowed?.length === 0) throw mayNotRead();
    return allowed;
  }
  const isAllowed = access !== undefined && projectId !== undefined && (allowed?.includes(projectId) ?? true);
  if (!isAllowed) throw mayNotRead();
  return [projectId];
}

export function mayNotRead(): Fault {
  const message =
    "Recorded prompts and answers need an admin key, or a user with the permission `project.content.read` in the project.";
  return new Fault("forbidden", message, { code: "insufficient_permissions" });
}

/** Writes a look at the content of requests to the audit log. Throws a Fault when the database cannot be reached. */
export async function auditLook(
  accounts: Accounts,
  request: FastifyRequest,
  type: "request.content.read" | "request.content.searched" | "request.content.exported",
  {
    resourceId,
    projectId,
    details = {},
  }: { resourceId: string; projectId?: string; details?: Record<string, unknown> },
): Promise<void> {
  const { organizationId } = request.caller;
  const project =
    projectId === undefined ? undefined : await accounts.projects.retrieve({ organizationId, id: projectId });
  await accounts.auditTrail.record(actorOf(request), { type, organizationId, project, resourceId, details });
}
