/** Answers of the administration API. */

import { z } from "zod";
import { AUDIT_EVENTS, type AuditEventType } from "../../contracts/audit-events.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOfEntries } from "./list-answers.ts";
import { memberOf, named, toComponentName } from "./named.ts";

const seconds = z.int();
const secondsOrNull = z.int().nullable();
const count = z.int().min(0);

export const Project = named(
  "Project",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("organization.project"),
    name: z.string(),
    created_at: seconds,
    archived_at: secondsOrNull,
    status: z.enum(["active", "archived"]),
    external_key_id: z.null(),
  })),
);
export const ProjectList = listOfEntries(Project);

export const ServiceAccount = named(
  "ServiceAccount",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("organization.project.service_account"),
    name: z.string(),
    role: z.enum(["owner", "member", "none"]),
    created_at: seconds,
  })),
);
export const ServiceAccountList = listOfEntries(ServiceAccount);

export const CreatedKey = named(
  "CreatedKey",
  lazy.object(() => ({
    object: z.literal("organization.project.service_account.api_key"),
    id: z.string(),
    name: z.string(),
    created_at: seconds,
    expires_at: secondsOrNull,
    value: z.string().describe("The key. It is shown only in this answer."),
  })),
);
export const CreatedServiceAccount = named(
  "CreatedServiceAccount",
  lazy.object(() => ({ ...ServiceAccount.shape, api_key: CreatedKey.nullable() })),
);

const KEY = {
  id: z.string(),
  name: z.string(),
  redacted_value: z.string(),
  created_at: seconds,
  expires_at: secondsOrNull,
  last_used_at: secondsOrNull,
  last_used_address: z.string().nullable().describe("Not in OpenAI's API."),
  last_used_client: z.string().nullable().describe("User agent of the last use. Not in OpenAI's API."),
};
const owner = { id: z.string(), name: z.string(), role: z.string(), created_at: seconds };

export const ProjectApiKey = named(
  "ProjectApiKey",
  lazy.object(() => ({
    object: z.literal("organization.project.api_key"),
    ...KEY,
    owner_project_access: z.literal("active"),
    owner: z.union([
      z.object({ type: z.literal("user"), user: z.object({ ...owner, email: z.string() }) }),
      z.object({ type: z.literal("service_account"), service_account: z.object(owner) }),
    ]),
  })),
);
export const ProjectApiKeyList = listOfEntries(ProjectApiKey);

export const CreatedProjectApiKey = named(
  "CreatedProjectApiKey",
  lazy.object(() => ({
    ...ProjectApiKey.shape,
    value: z.string().describe("The key. It is shown only in this answer."),
  })),
);

export const OrganizationApiKey = named(
  "OrganizationApiKey",
  lazy.object(() => ({
    object: z.literal("organization.api_key"),
    ...KEY,
    kind: z.enum(["project", "admin"]),
    project_id: z.string().nullable().describe("Null for admin keys."),
    service_account_id: z.string().nullable(),
  })),
);
export const OrganizationApiKeyList = listOfEntries(OrganizationApiKey);

export const AdminApiKey = named(
  "AdminApiKey",
  lazy.object(() => ({
    object: z.literal("organization.admin_api_key"),
    ...KEY,
    permissions: z.array(z.string()).optional().describe("What the key allows. Without it: everything."),
    owner: z.object({ object: z.literal("organization.user"), type: z.literal("user"), ...owner }),
  })),
);
export const AdminApiKeyList = listOfEntries(AdminApiKey);
export const CreatedAdminApiKey = named(
  "CreatedAdminApiKey",
  lazy.object(() => ({
    ...AdminApiKey.shape,
    value: z.string().describe("The key. It is shown only in this answer."),
  })),
);

export const Organization = named(
  "Organization",
  lazy.object(() => ({
    object: z.literal("organization"),
    id: z.string(),
    name: z.string(),
    is_default: z.boolean().describe("True for the organization that the first start creates."),
    created_at: seconds,
    archived_at: secondsOrNull,
  })),
);
export const OrganizationList = named(
  "OrganizationList",
  lazy.object(() => ({ object: z.literal("list"), data: z.array(Organization) })),
);
export const CreatedOrganization = named(
  "CreatedOrganization",
  lazy.object(() => ({ ...Organization.shape, admin_api_key: CreatedAdminApiKey })),
);
export const OwnOrganization = named(
  "CurrentOrganization",
  lazy.object(() => ({
    ...Organization.shape,
    default_project: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .describe("Null for organizations that the operator created."),
  })),
);

export function modelPermissions(of: "project" | "organization") {
  const object = `${of}.model_permissions` as const;
  return memberOf(toComponentName(object), () =>
    lazy.object(() => ({
      object: z.literal(object),
      mode: z.enum(["allow_list", "deny_list"]),
      model_ids: z.array(z.string()),
    })),
  );
}

const actingUser = lazy.object(() => ({ id: z.string(), email: z.string().nullable().optional() }));
const eventDetails = lazy.looseObject(() => ({
  id: z.string().describe("ID of the resource."),
  changes_requested: z.record(z.string(), z.unknown()).optional(),
  data: z.record(z.string(), z.unknown()).optional(),
}));

/** Details of an event stand under the name of its type. */
const details = Object.fromEntries(AUDIT_EVENTS.map((type) => [type, eventDetails.optional()])) as Record<
  AuditEventType,
  z.ZodOptional<typeof eventDetails>
>;

export const AuditLog = named(
  "AuditLog",
  lazy.looseObject(() => ({
    id: z.string(),
    object: z.literal("organization.audit_log"),
    type: z.string(),
    effective_at: seconds,
    project: z.object({ id: z.string(), name: z.string().nullable() }).optional(),
    actor: z.object({
      type: z.enum(["session", "api_key"]),
      api_key: z
        .object({ id: z.string(), type: z.literal("user"), user: actingUser.optional() })
        .optional()
        .describe("Of the type `api_key`."),
      session: z
        .object({
          ip_address: z.string().nullable(),
          user_agent: z.string().nullable(),
          user: actingUser.optional().describe("`operator`: commands on the machine of the service."),
        })
        .optional(),
    }),
    ...details,
  })),
);
export const AuditLogList = listOfEntries(AuditLog);

export const CacheStatus = named(
  "CacheStatus",
  lazy.object(() => ({
    object: z.literal("organization.cache"),
    answers: count.describe("Answers that have not expired; with `cache.store: memory`, of the replica that is asked."),
    bytes: count,
  })),
);

export const CachePurge = named(
  "CachePurge",
  z.object({ object: z.literal("organization.cache.purged"), purged: count }),
);
