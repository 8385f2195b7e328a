/** Makes, lists and ends keys. */

import { Fault, invalidRequest } from "../faults.ts";
import type { Secret } from "../secret.ts";
import {
  type ApiKeyScope,
  findApiKey,
  findUsableApiKeys,
  insertApiKey,
  listApiKeys,
  revokeApiKey,
} from "../storage/api-keys.ts";
import type { Page, PageRequest } from "../storage/page.ts";
import { findProject } from "../storage/projects.ts";
import type { ApiKeyRow } from "../storage/schema.ts";
import type { AccountChanges, Change } from "./account-changes.ts";
import { hashApiKey, makeApiKey, redactApiKey } from "./api-key.ts";
import type { Actor } from "./audit.ts";
import { newId } from "./id.ts";
import { checkName } from "./name.ts";

export type ApiKey = Omit<ApiKeyRow, "keyHash" | "revokedAt">;

export interface NewApiKey {
  scope: ApiKeyScope;
  name: string;
  /** Undefined: it does not expire. */
  expiresInSeconds: number | undefined;
}

export interface CreatedApiKey {
  key: ApiKey;
  /** Not kept anywhere: shown now or never. */
  secret: Secret;
}

export class ApiKeys {
  readonly #changes: AccountChanges;

  constructor(changes: AccountChanges) {
    this.#changes = changes;
  }

  /** Throws a Fault for a name that is not valid or a project that is not there or archived. */
  async create(actor: Actor, wanted: NewApiKey): Promise<CreatedApiKey> {
    return this.#changes.make(actor, (change) => addApiKey(change, wanted, makeApiKey(wanted.scope.kind)));
  }

  async list(scope: ApiKeyScope, request: PageRequest): Promise<Page<ApiKey>> {
    return this.#changes.database.run((executor) => listApiKeys(executor, scope, request));
  }

  /** Throws a Fault when there is none, also when it was revoked. */
  async retrieve(scope: ApiKeyScope, id: string): Promise<ApiKey> {
    const key = await this.#changes.database.run((executor) => findApiKey(executor, scope, id));
    if (key === undefined) throw noSuchKey(id);
    return key;
  }

  /** It does not work from the next request on. Throws a Fault when there is none or it cannot be ended. */
  async revoke(actor: Actor, scope: ApiKeyScope, id: string): Promise<void> {
    await this.#changes.make(actor, async ({ executor, now, audit }) => {
      const key = await findApiKey(executor, scope, id);
      if (key === undefined) throw noSuchKey(id);
      if (key.isFixed === 1) throw invalidRequest("This key is set in the service's environment; change it there.");
      if (key.kind === "admin") {
        const others = (await findUsableApiKeys(executor, scope, now)).filter((other) => other.id !== id);
        if (others.length === 0)
          throw invalidRequest("The last admin key cannot be deleted: create another one first.");
      }
      await revokeApiKey(executor, id, now);
      const project = await projectOf(executor, key);
      await audit({
        type: "api_key.deleted",
        organizationId: key.organizationId,
        project,
        resourceId: id,
        details: {},
      });
    });
  }
}

export async function addApiKey(
  { executor, now, audit }: Change,
  wanted: NewApiKey,
  secret: Secret,
  isFixed = false,
): Promise<CreatedApiKey> {
  const { organizationId, projectId, serviceAccountId, kind } = wanted.scope;
  const row: ApiKeyRow = {
    id: newId("key"),
    organizationId,
    projectId: projectId ?? null,
    serviceAccountId: serviceAccountId ?? null,
    kind,
    name: checkName(wanted.name),
    keyHash: hashApiKey(secret.reveal()),
    redactedValue: redactApiKey(secret.reveal()),
    isFixed: isFixed ? 1 : 0,
    createdAt: now,
    expiresAt: wanted.expiresInSeconds === undefined ? null : now + wanted.expiresInSeconds * 1000,
    revokedAt: null,
    lastUsedAt: null,
  };
  const project = await projectOf(executor, row);
  await insertApiKey(executor, row);
  const details = { name: row.name, kind, expires_at: row.expiresAt };
  await audit({ type: "api_key.created", organizationId, project, resourceId: row.id, details });
  return { key: row, secret };
}

/** Throws a Fault when the project is archived or not there. */
async function projectOf(
  executor: Change["executor"],
  key: Pick<ApiKeyRow, "organizationId" | "projectId">,
): Promise<{ id: string; name: string } | undefined> {
  if (key.projectId === null) return undefined;
  const project = await findProject(executor, { organizationId: key.organizationId, id: key.projectId });
  if (project === undefined) throw new Fault("not-found", `There is no project \`${key.projectId}\`.`);
  if (project.archivedAt !== null) throw invalidRequest(`The project \`${project.id}\` is archived.`);
  return project;
}

function noSuchKey(id: string): Fault {
  return new Fault("not-found", `There is no API key \`${id}\`.`);
}
