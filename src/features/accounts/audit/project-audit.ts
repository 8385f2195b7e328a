/** Audit log entries of changes within a project, in the transaction of the change. */

import type { Executor } from "../../../storage/database.ts";
import { findProject } from "../projects/project-queries.ts";
import { checkAuthor } from "../roles/check-author.ts";
import { type Actor, type AuditEvent, recordAudit } from "./audit.ts";

/** Author of a change in a project, and the organization whose audit log names it. */
export interface ProjectAuthor extends Actor {
  organizationId: string;
}

/** Writes an entry about a resource of a project, in the transaction of the change. Throws a Fault like `checkAuthor`. */
export async function recordProjectAudit(
  executor: Executor,
  author: ProjectAuthor,
  { projectId, ...event }: Pick<AuditEvent, "type" | "resourceId" | "details"> & { projectId: string },
): Promise<void> {
  await checkAuthor(executor, author);
  const { organizationId } = author;
  const project = await findProject(executor, { organizationId, id: projectId });
  await recordAudit(executor, author, { ...event, organizationId, project }, Date.now());
}
