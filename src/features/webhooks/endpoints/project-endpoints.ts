/** Webhook endpoints of projects, which their callers create. */

import { DAY_MS } from "../../../kernel/durations.ts";
import { Fault, invalidRequest } from "../../../kernel/faults.ts";
import { newId } from "../../../kernel/id.ts";
import type { Secret } from "../../../kernel/secret.ts";
import type { Database, Executor } from "../../../storage/database.ts";
import type { ProjectResource } from "../../../storage/project-resource.ts";
import { lockProject, type ProjectAuthor, recordProjectAudit } from "../../accounts/index.ts";
import { deleteEndpoint, findEndpoint, insertEndpoint, listEndpointsOf, updateEndpoint } from "./endpoint-queries.ts";
import type { WebhookEndpointRow } from "./endpoint-rows.ts";
import type { EndpointSecrets } from "./endpoint-secrets.ts";
import { checkEventTypes } from "./project-events.ts";
import type { ReceiverGuard } from "./receiver-guard.ts";

export interface ShownEndpoint extends Pick<WebhookEndpointRow, "id" | "name" | "url" | "createdAt" | "updatedAt"> {
  events: readonly string[];
  secretHint: string | null;
  /** Whether it is in the configuration, which alone changes it. */
  isConfigured: boolean;
}

export interface EndpointWithSecret {
  endpoint: ShownEndpoint;
  /** Shown this once. */
  secret: Secret;
}

export interface EndpointSettings {
  name: string;
  url: string;
  events: readonly string[];
}

export interface ProjectEndpointsOptions {
  database: Database;
  secrets: EndpointSecrets;
  guard: ReceiverGuard;
  maxPerProject: number;
}

export class ProjectEndpoints {
  readonly #options: ProjectEndpointsOptions;

  constructor(options: ProjectEndpointsOptions) {
    this.#options = options;
  }

  /** Lists all endpoints of a project, newest first. */
  async list(projectId: string): Promise<ShownEndpoint[]> {
    return (await this.#options.database.run((executor) => listEndpointsOf(executor, projectId))).map(toShown);
  }

  /** Throws a Fault when the project has no such endpoint. */
  async find(resource: ProjectResource): Promise<ShownEndpoint> {
    return toShown(await this.row(resource));
  }

  /** Returns the row with its secrets. Throws a Fault when the project has no such endpoint. */
  async row(resource: ProjectResource): Promise<WebhookEndpointRow> {
    return this.#options.database.run((executor) => require(executor, resource));
  }

  /** Throws a Fault for an address or a type of event that is not allowed, and for one endpoint too many. */
  async create(author: ProjectAuthor, projectId: string, settings: EndpointSettings): Promise<EndpointWithSecret> {
    const { secrets, guard, maxPerProject } = this.#options;
    const { name, url } = settings;
    const events = JSON.stringify(checkEventTypes(settings.events));
    await guard.check(url);
    const id = newId("whe_");
    const { secret, sealed, hint } = secrets.create(id);
    const now = Date.now();
    const row: WebhookEndpointRow = {
      ...{ id, projectId, name, url, events, secret: sealed, secretHint: hint },
      ...{ formerSecret: null, formerSecretUntil: null, createdAt: now, updatedAt: now },
    };
    await this.#options.database.transaction(async (executor) => {
      await lockProject(executor, projectId);
      if ((await listEndpointsOf(executor, projectId)).length >= maxPerProject) {
        const message = `The project has ${maxPerProject} webhook endpoints, which is the limit. Delete one, or ask an operator to raise webhook_endpoints.max_per_project.`;
        throw invalidRequest(message, undefined, "webhook_endpoint_limit");
      }
      await insertEndpoint(executor, row);
      await audit(executor, author, row, "webhook_endpoint.created", { name });
    });
    return { endpoint: toShown(row), secret };
  }

  async update(
    author: ProjectAuthor,
    resource: ProjectResource,
    change: { [Name in keyof EndpointSettings]?: EndpointSettings[Name] | undefined },
  ): Promise<ShownEndpoint> {
    const events = change.events && JSON.stringify(checkEventTypes(change.events));
    if (change.url !== undefined) await this.#options.guard.check(change.url);
    return this.#change(resource, async (executor, row) => {
      const next = { name: change.name ?? row.name, url: change.url ?? row.url, events: events ?? row.events };
      const changed = Object.keys(next).filter((key) => next[key as "name"] !== row[key as "name"]);
      if (changed.length === 0) return toShown(row);
      const updatedAt = Date.now();
      await updateEndpoint(executor, row.id, { ...next, updatedAt });
      // The address may have a secret in its path, which the audit log does not show.
      const details = Object.fromEntries(changed.map((key) => [key, key === "name" ? next.name : "changed"]));
      await audit(executor, author, row, "webhook_endpoint.updated", details);
      return toShown({ ...row, ...next, updatedAt });
    });
  }

  /** Replaces the secret; the former one signs for 24 hours more where `keepsFormer`. */
  async rotate(
    author: ProjectAuthor,
    resource: ProjectResource,
    { keepsFormer }: { keepsFormer: boolean },
  ): Promise<EndpointWithSecret> {
    return this.#change(resource, async (executor, row) => {
      const { secret, sealed, hint } = this.#options.secrets.create(row.id);
      const now = Date.now();
      const change = {
        ...{ secret: sealed, secretHint: hint, updatedAt: now },
        formerSecret: keepsFormer ? row.secret : null,
        formerSecretUntil: keepsFormer ? now + DAY_MS : null,
      };
      await updateEndpoint(executor, row.id, change);
      await audit(executor, author, row, "webhook_endpoint.updated", { signing_secret: "rotated" });
      return { endpoint: toShown({ ...row, ...change }), secret };
    });
  }

  /** Deletes an endpoint; events that were not delivered are not sent. */
  async delete(author: ProjectAuthor, resource: ProjectResource): Promise<void> {
    await this.#change(resource, async (executor, row) => {
      await deleteEndpoint(executor, row.id);
      await audit(executor, author, row, "webhook_endpoint.deleted", {});
    });
  }

  async #change<Result>(
    resource: ProjectResource,
    work: (executor: Executor, row: WebhookEndpointRow) => Promise<Result>,
  ): Promise<Result> {
    return this.#options.database.transaction(async (executor) => {
      await lockProject(executor, resource.projectId);
      return work(executor, await require(executor, resource));
    });
  }
}

type EndpointAudit = "webhook_endpoint.created" | "webhook_endpoint.updated" | "webhook_endpoint.deleted";

function audit(
  executor: Executor,
  author: ProjectAuthor,
  { id: resourceId, projectId }: WebhookEndpointRow,
  type: EndpointAudit,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  return recordProjectAudit(executor, author, { type, projectId, resourceId, details });
}

async function require(executor: Executor, resource: ProjectResource): Promise<WebhookEndpointRow> {
  const row = await findEndpoint(executor, resource);
  if (row !== undefined) return row;
  const message = `No webhook endpoint found with id '${resource.id.slice(0, 100)}'.`;
  throw new Fault("not-found", message, { code: "webhook_endpoint_not_found" });
}

function toShown(row: WebhookEndpointRow): ShownEndpoint {
  const { id, name, url, events, secretHint, createdAt, updatedAt } = row;
  return {
    id,
    name,
    url,
    events: JSON.parse(events) as string[],
    secretHint,
    createdAt,
    updatedAt,
    isConfigured: false,
  };
}
