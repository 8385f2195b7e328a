import type { EntryKind } from "../../config/layer.ts";
import { type PersonalData, PSEUDONYM } from "../../storage/personal-data.ts";
import type { ShownVersion } from "../../wire/openai/organization/organization-entries.ts";

/** One row, whose version increases with every change: replicas poll it. */
interface ConfigurationStateRow {
  id: number;
  version: number;
}

/** Model, connection, MCP server or setting that administrators configured through the API. */
export interface ConfigurationEntryRow {
  kind: EntryKind;
  /** ID of a model, name of a connection or MCP server, key of a setting. */
  name: string;
  /** JSON as the file would have it, with `[redacted]` in place of secrets. */
  value: string;
  /** Encrypted JSON: secrets by their path in `value`. Null: none. */
  secrets: Buffer | null;
  /** Version in which it was created, which orders entries. */
  position: number;
  /** Version of the last change. */
  version: number;
  updatedAt: number;
}

export type EntryName = Pick<ConfigurationEntryRow, "kind" | "name">;

export type ConfigurationVersionRow = ShownVersion;

/** Change of one entry in a version. Null values: the entry did not exist before or after. */
export interface ConfigurationChangeRow {
  version: number;
  kind: ConfigurationEntryRow["kind"];
  name: string;
  position: number;
  valueBefore: string | null;
  secretsBefore: Buffer | null;
  valueAfter: string | null;
  secretsAfter: Buffer | null;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    configurationState: ConfigurationStateRow;
    configurationEntries: ConfigurationEntryRow;
    configurationVersions: ConfigurationVersionRow;
    configurationChanges: ConfigurationChangeRow;
  }
}

export const configurationData = {
  configurationState: { reason: "One counter." },
  configurationEntries: {
    reason: "Models, connections and settings of the installation.",
    impersonal: { name: "Name of an entry.", value: "Settings of the operator." },
  },
  configurationChanges: {
    reason: "Earlier models, connections and settings of the installation.",
    impersonal: { name: "Name of an entry.", valueBefore: "Settings of the operator.", valueAfter: "The same." },
  },
  configurationVersions: {
    rows: [{ by: { actorUserId: "user", actorKeyId: "caller" }, order: "version", erase: { actorUserId: PSEUDONYM } }],
  },
} as const satisfies PersonalData;
