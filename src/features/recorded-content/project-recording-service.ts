/** Reads and changes what a project records. */

import type { RecordingPolicy } from "../../inference/recording/recording-policy.ts";
import type { Database } from "../../storage/database.ts";
import {
  NO_RECORDING,
  parseRecordingSettings,
  type RecordingSettings,
} from "../../wire/openai/organization/organization-recording.ts";
import { type AccountTransactions, type Actor, findActiveProject, findExistingProject } from "../accounts/index.ts";
import { deleteRecording, findRecordingsOf, putRecording } from "./recorded-content-queries.ts";
import type { ProjectRecordingRow } from "./recorded-content-rows.ts";

interface ProjectReference {
  organizationId: string;
  id: string;
}

export class ProjectRecordingService {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /** Throws a Fault when the project does not exist. */
  async retrieve(reference: ProjectReference): Promise<RecordingSettings> {
    return this.#transactions.database.run(async (executor) => {
      const project = await findExistingProject(executor, reference);
      const [row] = await findRecordingsOf(executor, [project.id]);
      return row === undefined ? NO_RECORDING : parseRecordingSettings(row.settings);
    });
  }

  /** Throws a Fault when the project does not exist or is archived. */
  async replace(actor: Actor, reference: ProjectReference, settings: RecordingSettings): Promise<void> {
    await this.#transactions.run(actor, async ({ executor, now, audit }) => {
      const project = await findActiveProject(executor, reference);
      if (settings.record_content === "off") await deleteRecording(executor, project.id);
      else await putRecording(executor, { projectId: project.id, settings: JSON.stringify(settings), updatedAt: now });
      const { organizationId, id: resourceId } = project;
      await audit({ type: "project.updated", organizationId, project, resourceId, details: { recording: settings } });
    });
  }
}

/** Undefined: nothing is recorded. */
export function toRecordingPolicy({ settings }: ProjectRecordingRow): RecordingPolicy | undefined {
  const { record_content: mode, share, keep_days, max_bytes, redact, search } = parseRecordingSettings(settings);
  if (mode === "off") return undefined;
  return { mode, share, keepDays: keep_days, maxBytes: max_bytes, redact, isSearchable: search };
}

/** Maximum bytes that a project stores, in completions of its callers, too. */
export async function maxBytesOf(database: Database, projectId: string): Promise<number> {
  const [row] = await database.run((executor) => findRecordingsOf(executor, [projectId]));
  return (row === undefined ? NO_RECORDING : parseRecordingSettings(row.settings)).max_bytes;
}
