/** An organisation's projects. */

import { Fault, invalidRequest } from "../faults.ts";
import type { Executor } from "../storage/database.ts";
import type { Page, PageRequest } from "../storage/page.ts";
import {
  archiveProject,
  findProject,
  insertProject,
  listProjects,
  type ProjectReference,
  renameProject,
} from "../storage/projects.ts";
import type { ProjectRow } from "../storage/schema.ts";
import type { AccountChanges } from "./account-changes.ts";
import type { Actor } from "./audit.ts";
import { newId } from "./id.ts";
import { checkName } from "./name.ts";

export type Project = ProjectRow;

export class Projects {
  readonly #changes: AccountChanges;

  constructor(changes: AccountChanges) {
    this.#changes = changes;
  }

  /** Throws a Fault for a name that is not valid. */
  async create(actor: Actor, organizationId: string, name: string): Promise<Project> {
    const checked = checkName(name);
    return this.#changes.make(actor, async ({ executor, now, audit }) => {
      const id = newId("proj");
      const project = { id, organizationId, name: checked, isDefault: 0, createdAt: now, archivedAt: null };
      await insertProject(executor, project);
      await audit({ type: "project.created", organizationId, project, resourceId: id, details: { name: checked } });
      return project;
    });
  }

  async list(organizationId: string, includeArchived: boolean, request: PageRequest): Promise<Page<Project>> {
    return this.#changes.database.run((executor) => listProjects(executor, organizationId, includeArchived, request));
  }

  /** Throws a Fault when there is none; an archived one is there. */
  async retrieve(project: ProjectReference): Promise<Project> {
    return this.#changes.database.run((executor) => findExistingProject(executor, project));
  }

  /** Throws a Fault when there is none, it is archived, or the name is not valid. */
  async rename(actor: Actor, reference: ProjectReference, name: string): Promise<Project> {
    const checked = checkName(name);
    return this.#changes.make(actor, async ({ executor, audit }) => {
      const project = { ...(await findActiveProject(executor, reference)), name: checked };
      await renameProject(executor, reference, checked);
      const { id, organizationId } = project;
      await audit({ type: "project.updated", organizationId, project, resourceId: id, details: { name: checked } });
      return project;
    });
  }

  /** Stops its keys at once. One that is archived already stays as it is, so that two may ask for it at once. */
  async archive(actor: Actor, reference: ProjectReference): Promise<Project> {
    return this.#changes.make(actor, async ({ executor, now, audit }) => {
      const project = await findExistingProject(executor, reference);
      if (project.isDefault === 1) throw invalidRequest("The default project cannot be archived.");
      if (!(await archiveProject(executor, reference, now))) return project;
      const { id, organizationId } = project;
      await audit({ type: "project.archived", organizationId, project, resourceId: id, details: {} });
      return { ...project, archivedAt: now };
    });
  }
}

/** Throws a Fault when there is none. */
export async function findExistingProject(executor: Executor, reference: ProjectReference): Promise<Project> {
  const project = await findProject(executor, reference);
  if (project === undefined) throw new Fault("not-found", `There is no project \`${reference.id}\`.`);
  return project;
}

/** Throws a Fault when there is none or it is archived. */
export async function findActiveProject(executor: Executor, reference: ProjectReference): Promise<Project> {
  const project = await findExistingProject(executor, reference);
  if (project.archivedAt !== null) throw invalidRequest(`The project \`${project.id}\` is archived.`);
  return project;
}
