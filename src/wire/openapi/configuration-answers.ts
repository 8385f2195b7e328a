/** Answers about the live configuration, its versions and connected hosts. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOfEntries } from "./list-answers.ts";
import { named } from "./named.ts";

const seconds = z.int();
const count = z.int().min(0);

export const EntryKind = z.enum(["model", "connection", "mcp_server", "setting"]);
export type EntryKind = z.output<typeof EntryKind>;

export const Configuration = named(
  "Configuration",
  lazy.object(() => ({
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
  })),
);

export const ConfigurationEntry = named(
  "ConfigurationEntry",
  lazy.object(() => ({
    object: z.literal("organization.configuration.entry"),
    id: z.string().describe("Kind and name."),
    kind: EntryKind,
    name: z.string().describe("ID of a model, name of a connection or MCP server, key of a setting."),
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
  })),
);

export const ConfigurationEntryList = listOfEntries(ConfigurationEntry);

export const ConnectedHost = named(
  "ConnectedHost",
  lazy.object(() => ({
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
  })),
);

export const ConnectionTest = named(
  "ConnectionTest",
  lazy.object(() => ({
    object: z.literal("organization.connection.test"),
    ok: z.boolean(),
    problem: z.string().nullable().describe("What to correct."),
    server: ConnectedHost.nullable().describe("Null: nothing answers."),
    first_token: z
      .object({ model: z.string(), milliseconds: count.nullable(), problem: z.string().nullable() })
      .nullable()
      .describe("Null: not measured."),
  })),
);

export const DiscoveredHosts = named(
  "DiscoveredHosts",
  lazy.object(() => ({ object: z.literal("list"), data: z.array(ConnectedHost) })),
);

export const ConfigurationVersion = named(
  "ConfigurationVersion",
  lazy.object(() => ({
    object: z.literal("organization.configuration.version"),
    id: z.string(),
    version: count,
    created_at: seconds,
    action: z.enum(["change", "restore", "import"]),
    actor: z.object({ api_key_id: z.string().nullable(), user_id: z.string().nullable() }),
    reason: z.string().nullable(),
  })),
);

export const ConfigurationVersionList = listOfEntries(ConfigurationVersion);

export const ConfigurationRestored = named(
  "ConfigurationRestored",
  lazy.object(() => ({
    object: z.literal("organization.configuration.restored"),
    version: count.describe("The new version."),
    restored: count.describe("The version whose entries apply again."),
  })),
);

export const ConfigurationImported = named(
  "ConfigurationImported",
  lazy.object(() => ({
    object: z.literal("organization.configuration.imported"),
    version: count.describe("The version in force."),
  })),
);

export const ConfigurationComparison = named(
  "ConfigurationComparison",
  lazy.object(() => ({
    object: z.literal("organization.configuration.comparison"),
    from: count,
    to: count,
    changes: z.array(
      z.object({
        kind: EntryKind,
        name: z.string(),
        fields: z.array(z.string()).describe("Paths that differ, secrets included."),
        before: z.unknown().describe("Null: it did not exist. Secrets are `[redacted]`."),
        after: z.unknown().describe("Null: it does not exist."),
      }),
    ),
  })),
);
