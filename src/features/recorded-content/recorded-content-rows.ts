/** Rows of recorded content. */

import type { Generated } from "kysely";
import type { PersonalData } from "../../storage/personal-data.ts";

/** What a project records. Without a row, nothing. */
export interface ProjectRecordingRow {
  projectId: string;
  /** JSON in the form of the API. */
  settings: string;
  updatedAt: number;
}

/** Content of one request. On SQLite, its words are in `recorded_index`; on PostgreSQL, in the column `tokens`. */
export interface RecordedContentRow {
  /** Increases with the time of writing; the row of `recorded_index` has the same. */
  number: Generated<number>;
  /** ID of the request. */
  id: string;
  organizationId: string;
  projectId: string;
  keyId: string;
  endUser: string | null;
  /** ID of the chat completion that the caller stored. */
  completionId: string | null;
  model: string | null;
  /** Time of the request's end. */
  at: number;
  expiresAt: number;
  /** Length of `content`. */
  bytes: number;
  /** `SealedContent`: JSON, compressed, encrypted. */
  content: Buffer;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    projectRecordings: ProjectRecordingRow;
    recordedContents: RecordedContentRow;
  }
}

export const projectRecordingData = {
  projectRecordings: { reason: "Settings of projects." },
} as const satisfies PersonalData;
