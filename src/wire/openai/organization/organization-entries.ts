/** Entries of the configuration and their history: /v1/organization/configuration, /models, /connections, /mcp_servers. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { parsedListOf } from "../../../kernel/list-of.ts";
import {
  type ConfigurationComparison,
  type ConfigurationEntry,
  type ConfigurationVersion,
  EntryKind,
} from "../../openapi/configuration-answers.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import { queryNumber, toSeconds } from "./organization-list.ts";

const reason = z.string().max(500).optional().describe("Why, for the history.");
const version = queryNumber(z.int().min(0));

export const ChangeQuery = z.strictObject({ reason });

/** The settings themselves are checked as the file is. */
export const ModelEntryBody = named(
  "ModelEntryBody",
  lazy
    .looseObject(() => ({ id: z.string().min(1).max(200) }))
    .describe("The model, as an entry of `models` in parlance.yaml. `[redacted]` keeps a stored secret."),
);
export const ConnectionEntryBody = named(
  "ConnectionEntryBody",
  lazy
    .looseObject(() => ({ name: z.string().min(1).max(64) }))
    .describe("`name`, and the settings as in an entry of `connections` in parlance.yaml."),
);
export const ConnectionBody = named(
  "ConnectionBody",
  z.looseObject({}).describe("The connection, as in `connections` of parlance.yaml."),
);
export const McpServerEntryBody = named(
  "McpServerEntryBody",
  lazy
    .looseObject(() => ({ name: z.string().min(1).max(200) }))
    .describe("The server, as an entry of `mcp_servers` in parlance.yaml. `[redacted]` keeps a stored secret."),
);
export const SettingBody = named(
  "SettingBody",
  z.strictObject({ value: z.unknown() }).describe("`value`, as in parlance.yaml under the key."),
);

const IMPORTED = 10_000;
export const ImportBody = named(
  "ConfigurationImportBody",
  lazy.strictObject(() => ({
    entries: parsedListOf(
      z.strictObject({
        kind: EntryKind,
        name: z.string().min(1).max(200),
        value: z.unknown().describe("As in parlance.yaml. `[redacted]` keeps a stored secret."),
      }),
    ).max(IMPORTED),
    replace: z.boolean().default(false).describe("Whether entries of the API that are not in the list are removed."),
  })),
);

export const EntriesQuery = lazy.strictObject(() => ({
  kind: EntryKind.optional(),
  after: z.string().min(1).optional(),
  limit: queryNumber(z.int().min(1).max(1000)).default(100),
}));
export const VersionsQuery = lazy.strictObject(() => ({
  before: version.optional().describe("Lists versions below this one."),
  limit: queryNumber(z.int().min(1).max(100)).default(20),
}));
export const CompareQuery = lazy.strictObject(() => ({
  from: version.optional().describe("ShownVersion to compare with. Default: the one before."),
}));

export interface ShownEntry {
  kind: EntryKind;
  name: string;
  source: "file" | "api";
  status: "in_force" | "shadowed" | "invalid" | "ignored";
  problem: string | undefined;
  /** Without its secrets. */
  value: unknown;
  version: number | undefined;
  updatedAt: number | undefined;
}

export function toConfigurationEntry(entry: ShownEntry): AnswerOf<typeof ConfigurationEntry> {
  const { kind, name, source, status, problem, value, version, updatedAt } = entry;
  return {
    object: "organization.configuration.entry",
    id: `${kind}:${name}`,
    ...{ kind, name, source, status },
    problem: problem ?? null,
    version: version ?? null,
    updated_at: updatedAt === undefined ? null : toSeconds(updatedAt),
    value,
  };
}

export interface ShownVersion {
  version: number;
  createdAt: number;
  action: "change" | "restore" | "import";
  /** Null for commands of the operator. */
  actorKeyId: string | null;
  actorUserId: string | null;
  reason: string | null;
}

export function toConfigurationVersion(row: ShownVersion): AnswerOf<typeof ConfigurationVersion> {
  return {
    object: "organization.configuration.version",
    id: String(row.version),
    version: row.version,
    created_at: toSeconds(row.createdAt),
    action: row.action,
    actor: { api_key_id: row.actorKeyId, user_id: row.actorUserId },
    reason: row.reason,
  };
}

interface Comparison {
  from: number;
  to: number;
  changes: readonly {
    kind: ShownEntry["kind"];
    name: string;
    before: unknown;
    after: unknown;
    fields: readonly string[];
  }[];
}

export function toConfigurationComparison({ from, to, changes }: Comparison): AnswerOf<typeof ConfigurationComparison> {
  return {
    object: "organization.configuration.comparison",
    from,
    to,
    changes: changes.map(({ before, after, ...change }) => ({
      ...change,
      before: before ?? null,
      after: after ?? null,
    })),
  };
}
