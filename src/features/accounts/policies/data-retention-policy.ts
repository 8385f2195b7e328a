/** What the service may keep of requests, by the organization and the project. */

import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../../http/operation.ts";
import { type Fault, invalidRequest, unsupportedValue } from "../../../kernel/faults.ts";
import type { Executor } from "../../../storage/database.ts";
import {
  ORGANIZATION_DEFAULT,
  OrganizationDataRetention,
  OrganizationDataRetentionBody,
  ProjectDataRetention,
  ProjectDataRetentionBody,
  type ProjectRetention,
  RETENTIONS,
  type Retention,
  RetentionSettings,
  toOrganizationDataRetention,
  toProjectDataRetention,
  UNSUPPORTED_RETENTIONS,
} from "../../../wire/openai/organization/data-retention.ts";
import type { Accounts } from "../accounts.ts";
import { actorOf } from "../audit/actor.ts";
import { projectPolicyRoutes } from "./project-policy.ts";
import { StoredPolicy } from "./stored-policy.ts";

declare module "../keys/key-policy.ts" {
  interface KeyPolicies {
    /** The stricter one of the organization and the project. */
    retention: Retention;
  }
}

const stored = new StoredPolicy<Retention>({
  name: "data_retention",
  settings: RetentionSettings,
  strictest: "zero_data_retention",
});

export const retentionPolicy = stored.forKeys<Retention>((ofProject = "none", ofOrganization = "none") =>
  isStricter(ofProject, ofOrganization) ? ofProject : ofOrganization,
);

/** /v1/organization/data_retention and /v1/organization/projects/{project}/data_retention */
export function dataRetention({ transactions }: Pick<Accounts, "transactions">): FastifyPluginAsync[] {
  return [organizationRetention({ transactions }), projectRetention({ transactions })];
}

function organizationRetention({ transactions }: Pick<Accounts, "transactions">): FastifyPluginAsync {
  const common = { tag: "Organization", permission: "admin", answer: OrganizationDataRetention } as const;
  return routes(
    operation(
      "GET /data_retention",
      {
        ...common,
        requires: "organization.read",
        summary: "Retrieves what the organization lets the service keep of requests.",
      },
      async ({ caller: { organizationId } }) =>
        toOrganizationDataRetention(
          await transactions.database.run((executor) => ofOrganization(executor, organizationId)),
        ),
    ),
    operation(
      "POST /data_retention",
      {
        ...common,
        requires: "organization.write",
        summary: "Sets what the organization lets the service keep of requests, from now on.",
        body: OrganizationDataRetentionBody,
      },
      async ({ body, caller: { organizationId }, request }) => {
        const type = supported(body.retention_type);
        await transactions.run(actorOf(request), async ({ executor, now, audit }) => {
          await stored.put(executor, organizationId, type, now);
          const details = { dataRetention: type };
          await audit({ type: "organization.updated", organizationId, resourceId: organizationId, details });
        });
        return toOrganizationDataRetention(type);
      },
    ),
  );
}

function projectRetention({ transactions }: Pick<Accounts, "transactions">): FastifyPluginAsync {
  return projectPolicyRoutes<{ retention_type: ProjectRetention | Unsupported }, ProjectRetention>(transactions, {
    path: "data_retention",
    summaries: {
      retrieve: "Retrieves what a project lets the service keep of requests.",
      replace:
        "Sets what a project lets the service keep of requests, from now on: as much as its organization, or less.",
    },
    body: ProjectDataRetentionBody,
    answer: ProjectDataRetention,
    find: async (executor, { id }) => (await stored.find(executor, id)) ?? ORGANIZATION_DEFAULT,
    toValue: ({ retention_type: type }) => supported(type),
    put: async ({ executor, now }, { id, organizationId }, type) => {
      if (type === ORGANIZATION_DEFAULT) return stored.remove(executor, id);
      const limit = await ofOrganization(executor, organizationId);
      if (isStricter(limit, type)) throw lessStrict(type, limit);
      await stored.put(executor, id, type, now);
    },
    details: (type) => ({ dataRetention: type }),
    toAnswer: toProjectDataRetention,
  });
}

/** Whether the content of requests may be recorded without their callers. */
export function mayRecord(retention: Retention): boolean {
  return retention === "none";
}

/** Whether content may be stored for callers who ask for it. */
export function mayStore(retention: Retention): boolean {
  return retention !== "zero_data_retention";
}

/** The Fault for a request that works with stored content only, such as `background`. */
export function notStored(what: string, param?: string): Fault {
  const message = `${what} has to store content, which the data retention of this project does not allow: it is zero_data_retention.`;
  return invalidRequest(message, param, "zero_data_retention");
}

async function ofOrganization(executor: Executor, organizationId: string): Promise<Retention> {
  return (await stored.find(executor, organizationId)) ?? "none";
}

function isStricter(one: Retention, other: Retention): boolean {
  return RETENTIONS.indexOf(one) > RETENTIONS.indexOf(other);
}

type Unsupported = (typeof UNSUPPORTED_RETENTIONS)[number];

function supported<Type extends string>(type: Type | Unsupported): Exclude<Type, Unsupported> {
  if (!(UNSUPPORTED_RETENTIONS as readonly string[]).includes(type)) return type as Exclude<Type, Unsupported>;
  const message = `'${type}' needs checks of OpenAI's that this service does not have: use '${type.slice("enhanced_".length)}'.`;
  throw unsupportedValue(message, "retention_type");
}

function lessStrict(type: Retention, limit: Retention): Fault {
  const message = `The organization's data retention is '${limit}', and '${type}' would keep more: a project may only keep as much or less.`;
  return invalidRequest(message, "retention_type", "invalid_value");
}
