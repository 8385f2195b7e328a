import type { RecordingPolicy } from "../../inference/recording/recording-policy.ts";
import { projectKeyPolicy } from "../accounts/index.ts";
import { toRecordingPolicy } from "./project-recording-service.ts";
import { findRecordingsOf } from "./recorded-content-queries.ts";
import type { ProjectRecordingRow } from "./recorded-content-rows.ts";

declare module "../accounts/keys/key-policy.ts" {
  interface KeyPolicies {
    /** What the project records; undefined: nothing. */
    recording: RecordingPolicy | undefined;
  }
}

export const recordingPolicy = projectKeyPolicy<ProjectRecordingRow, RecordingPolicy | undefined>(
  undefined,
  findRecordingsOf,
  (rows) => rows.map(toRecordingPolicy)[0],
);
