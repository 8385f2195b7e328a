/** An organization's projects. */

import { Fault, invalidRequest } from "../../../kernel/faults.ts";
import { newId } from "../../../kernel/id.ts";
import type { Executor } from "../../../storage/database.ts";
import type { Page, PageRequest } from "../../../storage/page.ts";
import type { ProjectRow } from "../account-rows.ts";
import type { AccountTransaction, AccountTransactions } from "../account-transaction.ts";
import type { Actor } from "../audit/audit.ts";
import { checkName } from "../name.ts";
import { findOrganization } from "../organizations/organization-queries.ts";
import { PROJECT_ROLE_IDS } from "../roles/built-in-roles.ts";
import { putMembership } from "../roles/role-changes.ts";
import {
  archiveProject,
  findActiveProjects,
  findDefaultProject,
  findProject,
  insertProject,
  listProjects,
  type ProjectReference,
  renameProject,
} from "./project-queries.ts";

export type Project = ProjectRow;

export class Projects {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /** Creates a project, of which a user who creates it is an owner. Throws a Fault for an invalid name, or in an archived organization. */
  async create(actor: Actor, organizationId: string, name: string): Promise<Project> {
    const checked = checkName(name);
    return this.#transactions.run(actor, async (transaction) => {
      const { executor, now, audit } = transaction;
      const organization = await findOrganization(executor, organizationId);
      if (organization?.archivedAt != null) throw invalidRequest("The organization is archived.");
      const id = newId("proj_");
      const project = { id, organizationId, name: checked, isDefault: 0, createdAt: now, archivedAt: null };
      await insertProject(executor, project);
      await audit({ type: "project.created", organizationId, project, resourceId: id, details: { name: checked } });
      if (actor.userId !== undefined) {
        const roleId = PROJECT_ROLE_IDS.owner;
        const creator = { type: "user", id: actor.userId } as const;
        await putMembership(transaction, project, creator, roleId);
      }
      return project;
    });
  }

  /** Lists projects, or those with these IDs. */
  async list(
    organizationId: string,
    includeArchived: boolean,
    request: PageRequest,
    ids?: readonly string[],
  ): Promise<Page<Project>> {
    return this.#transactions.database.run((executor) =>
      listProjects(executor, organizationId, includeArchived, request, ids),
    );
  }

  /** Also finds an archived project. Throws a Fault when it does not exist. */
  async retrieve(project: ProjectReference): Promise<Project> {
    return this.#transactions.database.run((executor) => findExistingProject(executor, project));
  }

  /** Only the default organization has a default project. */
  async findDefault(organizationId: string): Promise<Project | undefined> {
    return this.#transactions.database.run((executor) => findDefaultProject(executor, organizationId));
  }

  /** Throws a Fault when the project does not exist, is archived, or the name is invalid. */
  async rename(actor: Actor, reference: ProjectReference, name: string): Promise<Project> {
    const checked = checkName(name);
    return this.#transactions.run(actor, async ({ executor, audit }) => {
      const before = await findActiveProject(executor, reference);
      if (before.name === checked) return before;
      const project = { ...before, name: checked };
      await renameProject(executor, reference, checked);
      const { id, organizationId } = project;
      await audit({ type: "project.updated", organizationId, project, resourceId: id, details: { name: checked } });
      return project;
    });
  }

  /** Disables its keys and deletes its stored responses and conversations. Idempotent: an archived project stays as it is. */
  async archive(actor: Actor, reference: ProjectReference): Promise<Project> {
    return this.#transactions.run(actor, async (transaction) => {
      const project = await findExistingProject(transaction.executor, reference);
      if (project.isDefault === 1) throw invalidRequest("The default project cannot be archived.");
      return archiveExistingProject(transaction, project);
    });
  }
}

/** Archives the projects of an organization that is archived. */
export async function archiveProjectsOf(transaction: AccountTransaction, organizationId: string): Promise<void> {
  for (const project of await findActiveProjects(transaction.executor, organizationId)) {
    await archiveExistingProject(transaction, project);
  }
}

async function archiveExistingProject(
  { executor, now, audit, extensions }: AccountTransaction,
  project: Project,
): Promise<Project> {
  const { id, organizationId } = project;
  if (!(await archiveProject(executor, { organizationId, id }, now))) return project;
  await extensions.onProjectArchived(executor, id);
  await audit({ type: "project.archived", organizationId, project, resourceId: id, details: {} });
  return { ...project, archivedAt: now };
}

/** Throws a Fault when the project does not exist. */
export async function findExistingProject(executor: Executor, reference: ProjectReference): Promise<Project> {
  const project = await findProject(executor, reference);
  if (project === undefined) throw new Fault("not-found", `There is no project \`${reference.id}\`.`);
  return project;
}

/** Throws a Fault when the project does not exist or is archived. */
export async function findActiveProject(executor: Executor, reference: ProjectReference): Promise<Project> {
  const project = await findExistingProject(executor, reference);
  if (project.archivedAt !== null) throw invalidRequest(`The project \`${project.id}\` is archived.`);
  return project;
}
