/** What a project records of its requests. */

import type { FastifyPluginAsync } from "fastify";
import type { RecordingPolicy } from "../../inference/recording/recording-policy.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Database } from "../../storage/database.ts";
import {
  NO_RECORDING,
  parseRecordingSettings,
  RecordingBody,
  type RecordingSettings,
  toProjectRecording,
} from "../../wire/openai/organization/organization-recording.ts";
import { ProjectRecording } from "../../wire/openapi/project-policy-answers.ts";
import {
  type Accounts,
  type KeyPolicy,
  mayRecord,
  projectKeyPolicy,
  projectPolicyRoutes,
  putProjectRow,
  retentionPolicy,
} from "../accounts/index.ts";
import { findRecordingsOf } from "./recorded-content-queries.ts";
import type { ProjectRecordingRow } from "./recorded-content-rows.ts";
import type { RecordedContents } from "./recorded-contents.ts";

declare module "../accounts/keys/key-policy.ts" {
  interface KeyPolicies {
    /** What the project records; undefined: nothing. */
    recording: RecordingPolicy | undefined;
  }
}

const settingsPolicy = projectKeyPolicy<ProjectRecordingRow, RecordingPolicy | undefined>(
  undefined,
  findRecordingsOf,
  ([row]) => row && toRecordingPolicy(row),
);

/** What projects have set, as far as the data retention allows it. */
export const recordingPolicy: KeyPolicy<RecordingPolicy | undefined> = {
  none: undefined,
  load: async (executor, keys) => {
    const settingsOf = await settingsPolicy.load(executor, keys);
    const retentionOf = await retentionPolicy.load(executor, keys);
    return (key) => (mayRecord(retentionOf(key)) ? settingsOf(key) : undefined);
  },
};

/** /v1/organization/projects/{project}/recording */
export function projectRecording(
  { transactions }: Pick<Accounts, "transactions">,
  contents: RecordedContents | undefined,
): FastifyPluginAsync {
  return projectPolicyRoutes<RecordingSettings, RecordingSettings>(transactions, {
    path: "recording",
    summaries: {
      retrieve: "Retrieves what a project records of its prompts and answers. Not in OpenAI's API.",
      replace:
        "Sets what a project records of its prompts and answers: nothing, those of failed requests, or all. Not in OpenAI's API.",
    },
    body: RecordingBody,
    answer: ProjectRecording,
    find: async (executor, { id }) => toSettings(await findRecordingsOf(executor, [id])),
    toValue: (settings) => {
      if (contents === undefined && settings.record_content !== "off") throw noKey();
      return settings;
    },
    put: async ({ executor, now }, { id: projectId }, settings) => {
      if (settings.record_content !== "off") {
        const row = { projectId, settings: JSON.stringify(settings), updatedAt: now };
        return putProjectRow(executor, "projectRecordings", row);
      }
      await executor.deleteFrom("projectRecordings").where("projectId", "=", projectId).execute();
    },
    details: (recording) => ({ recording }),
    toAnswer: toProjectRecording,
    onChanged: (projectId) => contents?.sizes.forget(projectId),
  });
}

/** Maximum bytes that a project stores, in completions of its callers, too. */
export async function maxBytesOf(database: Database, projectId: string): Promise<number> {
  return toSettings(await database.run((executor) => findRecordingsOf(executor, [projectId]))).max_bytes;
}

function toSettings([row]: readonly ProjectRecordingRow[]): RecordingSettings {
  return row === undefined ? NO_RECORDING : parseRecordingSettings(row.settings);
}

/** Undefined: nothing is recorded. */
function toRecordingPolicy(row: ProjectRecordingRow): RecordingPolicy | undefined {
  const { record_content: mode, share, keep_days, max_bytes, redact, search } = toSettings([row]);
  if (mode === "off") return undefined;
  return { mode, share, keepDays: keep_days, maxBytes: max_bytes, redact, isSearchable: search };
}

function noKey(): Fault {
  const message =
    "Content is recorded encrypted, and this service has no encryption key: set PARLANCE_ENCRYPTION_KEY, then try again.";
  return new Fault("invalid-request", message, { param: "record_content", code: "storage_disabled" });
}
