/** Answers of the administration API. */

import { z } from "zod";
import { named } from "./named.ts";

const seconds = z.int();
const secondsOrNull = z.int().nullable();
const count = z.int().min(0);

/** A page of a list, with cursors. */
export function listOfEntries<Entry extends z.ZodType>(entry: Entry) {
  return z.object({
    object: z.literal("list"),
    data: z.array(entry),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  });
}

export function deleted(object: string) {
  return z.object({ object: z.literal(object), id: z.string(), deleted: z.boolean() });
}

export function removed(object: string) {
  return z.object({ object: z.literal(object), deleted: z.boolean() });
}

export const Project = named(
  "Project",
  z.object({
    id: z.string(),
    object: z.literal("organization.project"),
    name: z.string(),
    created_at: seconds,
    archived_at: secondsOrNull,
    status: z.enum(["active", "archived"]),
    external_key_id: z.null(),
  }),
);
export const ProjectList = listOfEntries(Project);

export const ServiceAccount = named(
  "ServiceAccount",
  z.object({
    id: z.string(),
    object: z.literal("organization.project.service_account"),
    name: z.string(),
    role: z.enum(["owner", "member", "none"]),
    created_at: seconds,
  }),
);
export const ServiceAccountList = listOfEntries(ServiceAccount);

export const CreatedKey = named(
  "CreatedKey",
  z.object({
    object: z.literal("organization.project.service_account.api_key"),
    id: z.string(),
    name: z.string(),
    created_at: seconds,
    expires_at: secondsOrNull,
    value: z.string().describe("The key. It is shown only in this answer."),
  }),
);
export const CreatedServiceAccount = z.object({ ...ServiceAccount.shape, api_key: CreatedKey.nullable() });

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
  z.object({
    object: z.literal("organization.project.api_key"),
    ...KEY,
    owner_project_access: z.literal("active"),
    owner: z.union([
      z.object({ type: z.literal("user"), user: z.object({ ...owner, email: z.string() }) }),
      z.object({ type: z.literal("service_account"), service_account: z.object(owner) }),
    ]),
  }),
);
export const ProjectApiKeyList = listOfEntries(ProjectApiKey);

export const CreatedProjectApiKey = z.object({
  ...ProjectApiKey.shape,
  value: z.string().describe("The key. It is shown only in this answer."),
});

export const OrganizationApiKey = named(
  "OrganizationApiKey",
  z.object({
    object: z.literal("organization.api_key"),
    ...KEY,
    kind: z.enum(["project", "admin"]),
    project_id: z.string().nullable().describe("Null for admin keys."),
    service_account_id: z.string().nullable(),
  }),
);
export const OrganizationApiKeyList = listOfEntries(OrganizationApiKey);

export const AdminApiKey = named(
  "AdminApiKey",
  z.object({
    object: z.literal("organization.admin_api_key"),
    ...KEY,
    permissions: z.array(z.string()).optional().describe("What the key allows. Without it: everything."),
    owner: z.object({ object: z.literal("organization.user"), type: z.literal("user"), ...owner }),
  }),
);
export const AdminApiKeyList = listOfEntries(AdminApiKey);
export const CreatedAdminApiKey = z.object({
  ...AdminApiKey.shape,
  value: z.string().describe("The key. It is shown only in this answer."),
});

export const Organization = named(
  "Organization",
  z.object({
    object: z.literal("organization"),
    id: z.string(),
    name: z.string(),
    is_default: z.boolean().describe("True for the organization that the first start creates."),
    created_at: seconds,
    archived_at: secondsOrNull,
  }),
);
export const OrganizationList = z.object({ object: z.literal("list"), data: z.array(Organization) });
export const CreatedOrganization = z.object({ ...Organization.shape, admin_api_key: CreatedAdminApiKey });
export const OwnOrganization = z.object({
  ...Organization.shape,
  default_project: z
    .object({ id: z.string(), name: z.string() })
    .nullable()
    .describe("Null for organizations that the operator created."),
});

export function modelPermissions(of: "project" | "organization") {
  return z.object({
    object: z.literal(`${of}.model_permissions`),
    mode: z.enum(["allow_list", "deny_list"]),
    model_ids: z.array(z.string()),
  });
}

export const KeyRules = named(
  "KeyRules",
  z.object({
    object: z.literal("project.key_rules"),
    max_keys_per_user: z.int().nullable().describe("Null: as many as the configuration allows."),
    max_lifetime_seconds: z.int().nullable().describe("Null: as long as the configuration allows."),
    model_ids: z.array(z.string()).nullable().describe("Null: the models of the project."),
    max_spend_cents_per_month: z.int().nullable().describe("Per key. Null: unlimited."),
  }),
);

const direction = z.object({ mode: z.string() }).nullable();
export const ModerationPolicy = named(
  "ModerationPolicy",
  z.object({
    object: z.literal("project.moderation_policy"),
    model: z.string().nullable(),
    policy: z.object({ input: direction, output: direction }),
    unsupported_language: z
      .object({ action: z.enum(["pass", "refuse", "model"]), model: z.string().nullable() })
      .nullable()
      .describe("For text in a language that the moderation model does not know. Null: pass."),
  }),
);

export const ProjectRecording = named(
  "ProjectRecording",
  z.object({
    object: z.literal("project.recording"),
    record_content: z.enum(["off", "errors", "all"]),
    share: z.number(),
    keep_days: z.int(),
    max_bytes: z.int(),
    redact: z.array(z.enum(["pii", "secrets"])),
    search: z.boolean(),
  }),
);

export const ProjectGuardrails = named(
  "ProjectGuardrails",
  z.object({
    object: z.literal("project.guardrails"),
    guardrails: z
      .array(z.looseObject({ type: z.string() }))
      .describe("In order; the moderation policy is the last. Fields are those of `guardrails` in parlance.yaml."),
  }),
);

export function spendLimit(of: "organization" | "project" | "api_key") {
  return z.object({
    object: z.literal(`${of}.spend_limit`),
    currency: z.literal("USD"),
    interval: z.literal("month"),
    threshold_amount: z.int().min(1).describe("US cents."),
    enforcement: z.object({ status: z.enum(["enforcing", "inactive"]) }),
  });
}

export const RateLimit = named(
  "RateLimit",
  z.object({
    object: z.literal("project.rate_limit"),
    id: z.string(),
    model: z.string(),
    max_requests_per_1_minute: count,
    max_tokens_per_1_minute: count,
    max_requests_per_1_day: count,
    max_audio_megabytes_per_1_minute: count,
    max_images_per_1_minute: count,
    max_concurrent_requests: count,
  }),
);
export const RateLimitList = listOfEntries(RateLimit);

export const AuditLog = named(
  "AuditLog",
  z
    .looseObject({
      id: z.string(),
      object: z.literal("organization.audit_log"),
      type: z.string(),
      effective_at: seconds,
      project: z.object({ id: z.string(), name: z.string().nullable() }).optional(),
      actor: z.looseObject({ type: z.enum(["session", "api_key"]) }),
    })
    .describe("The details of an event stand under the name of its type."),
);
export const AuditLogList = listOfEntries(AuditLog);

export const ModelStatus = z.object({
  object: z.literal("organization.model"),
  id: z.string(),
  deployments: z.array(
    z.object({
      name: z.string(),
      state: z.string(),
      memory_bytes: z.number().nullable(),
      load_seconds: z.number().nullable(),
    }),
  ),
});

export const ModelPull = z.object({
  object: z.literal("organization.model.pull"),
  id: z.string(),
  state: z.enum(["running", "done", "failed", "cancelled"]),
  file: z.string().nullable(),
  received_bytes: z.number().describe("Of all files of the model."),
  total_bytes: z.number().nullable(),
  error_message: z.string().nullable(),
});

export const ModelLibrary = z.object({
  object: z.literal("list"),
  machine: z.object({ cores: z.int(), model_memory_bytes: z.number(), free_bytes: z.number() }),
  data: z.array(
    z.object({
      object: z.literal("organization.library_model"),
      id: z.string(),
      task: z.string(),
      description: z.string(),
      license: z.string(),
      languages: z.string().nullable().describe("For people, such as 119 languages."),
      download_bytes: z.number().nullable(),
      memory_bytes: z.number().nullable(),
      tokens_per_second: z.number().nullable().describe("Of one request on this machine's processor."),
      is_measured: z.boolean().describe("False: the speed is estimated from the size."),
      fits: z.boolean(),
      is_pulled: z.boolean(),
      pull: ModelPull.nullable().describe("The last pull in the background."),
    }),
  ),
});

export const Configuration = named(
  "Configuration",
  z.object({
    object: z.literal("organization.configuration"),
    version: z.string(),
    file: z.string().nullable().describe("Path of the configuration file."),
    settings: z.array(
      z.object({
        key: z.string().describe("Key in parlance.yaml, or name of an environment variable."),
        value: z.unknown().describe("Value in force; secrets are redacted. Null: not set."),
        default: z.unknown(),
        source: z.enum(["default", "file", "environment", "api"]),
        description: z.string(),
      }),
    ),
    models: z
      .array(z.looseObject({ id: z.string(), source: z.enum(["file", "api"]) }))
      .describe("The models of the file and of the API, by their `source`."),
  }),
);

export const ConfigurationEntry = named(
  "ConfigurationEntry",
  z.object({
    object: z.literal("organization.configuration.entry"),
    id: z.string().describe("Kind and name."),
    kind: z.enum(["model", "connection", "setting"]),
    name: z.string().describe("ID of a model, name of a connection, key of a setting."),
    source: z.enum(["file", "api"]).describe("file: set in parlance.yaml, and locked."),
    status: z
      .enum(["in_force", "shadowed", "invalid", "ignored"])
      .describe(
        "shadowed: parlance.yaml has an entry of this name, which applies. invalid: kept, but not applied. ignored: parlance.yaml has `configuration: file_only`.",
      ),
    problem: z.string().nullable().describe("Why it is not in force."),
    version: count.nullable().describe("Version of its last change, for If-Match; null for entries of the file."),
    updated_at: seconds.nullable(),
    value: z.unknown().describe("As parlance.yaml would have it; secrets are `[redacted]`."),
  }),
);

export const ConfigurationEntryList = listOfEntries(ConfigurationEntry);

export const ConnectedHost = named(
  "ConnectedHost",
  z.object({
    kind: z
      .enum([
        "anthropic",
        "litellm",
        "llama-server",
        "lm-studio",
        "ollama",
        "openai",
        "openai-compatible",
        "parlance",
        "sglang",
        "vllm",
      ])
      .describe("Server that answers; openai-compatible: another one with this API."),
    version: z.string().nullable(),
    base_url: z.string().describe("Address of its API, including the version."),
    engine: z.enum(["anthropic", "openai-compatible"]).describe("Engine for deployments of its models."),
    accepted: z.boolean().describe("Whether it listed its models, with the key if one was given."),
    models: z.array(
      z.object({
        id: z.string(),
        task: z.enum(["chat", "embedding"]).nullable().describe("Null: not known, as for the rest."),
        context_window: count.nullable(),
        abilities: z.object({
          tools: z.boolean().nullable(),
          vision: z.boolean().nullable(),
          reasoning: z.boolean().nullable(),
        }),
      }),
    ),
  }),
);

export const ConnectionTest = named(
  "ConnectionTest",
  z.object({
    object: z.literal("organization.connection.test"),
    ok: z.boolean(),
    problem: z.string().nullable().describe("What to correct."),
    server: ConnectedHost.nullable().describe("Null: nothing answers."),
    first_token: z
      .object({ model: z.string(), milliseconds: count.nullable(), problem: z.string().nullable() })
      .nullable()
      .describe("Null: not measured."),
  }),
);

export const DiscoveredHosts = named(
  "DiscoveredHosts",
  z.object({ object: z.literal("list"), data: z.array(ConnectedHost) }),
);

export const ConfigurationVersion = named(
  "ConfigurationVersion",
  z.object({
    object: z.literal("organization.configuration.version"),
    id: z.string(),
    version: count,
    created_at: seconds,
    action: z.enum(["change", "restore", "import"]),
    actor: z.object({ api_key_id: z.string().nullable(), user_id: z.string().nullable() }),
    reason: z.string().nullable(),
  }),
);

export const ConfigurationVersionList = listOfEntries(ConfigurationVersion);

export const ConfigurationRestored = z.object({
  object: z.literal("organization.configuration.restored"),
  version: count.describe("The new version."),
  restored: count.describe("The version whose entries apply again."),
});

export const ConfigurationImported = z.object({
  object: z.literal("organization.configuration.imported"),
  version: count.describe("The version in force."),
});

export const ConfigurationComparison = named(
  "ConfigurationComparison",
  z.object({
    object: z.literal("organization.configuration.comparison"),
    from: count,
    to: count,
    changes: z.array(
      z.object({
        kind: z.enum(["model", "connection", "setting"]),
        name: z.string(),
        fields: z.array(z.string()).describe("Paths that differ, secrets included."),
        before: z.unknown().describe("Null: it did not exist. Secrets are `[redacted]`."),
        after: z.unknown().describe("Null: it does not exist."),
      }),
    ),
  }),
);

export const CacheStatus = named(
  "CacheStatus",
  z.object({
    object: z.literal("organization.cache"),
    answers: count.describe("Answers that have not expired; with `cache.store: memory`, of the replica that is asked."),
    bytes: count,
  }),
);

export const CachePurge = z.object({ object: z.literal("organization.cache.purged"), purged: count });
