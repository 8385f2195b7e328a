/** Rows of usage: whom it belongs to, and its sums. Times are epoch milliseconds. */

import type { Operation, RecordedDetails, RecordedUsage } from "../../kernel/usage.ts";
import type { PersonalData } from "../../storage/personal-data.ts";

/** Caller, key, model and deployment of usage. Sums refer to it by number. */
export interface UsageDimensionRow {
  /** The first 53 bits of the hash of the other columns, of which the last four count only when they are set. */
  id: number;
  organizationId: string;
  projectId: string;
  keyId: string;
  /** The catalog ID that answered. */
  model: string;
  deployment: string;
  operation: Operation;
  /** Tier that the upstream reports; null: the standard one. */
  serviceTier: string | null;
  /** 1 for requests of batches. */
  isBatch: number;
  /** Operation of images, such as `image.edit`. */
  imageSource: string | null;
  /** Null: the model chose. */
  imageSize: string | null;
}

/** One request, as versions before 0.2 recorded it. */
interface UsageRecordRow extends RecordedUsage {
  at: number;
  dimensionId: number;
  durationMilliseconds: number;
  outcome: "finished" | "client-left" | "failed";
}

/** All requests of a minute (60), an hour (3600) or a UTC day (86400). */
export interface UsageRollupRow extends RecordedUsage, RecordedDetails {
  bucketSeconds: number;
  beginsAt: number;
  dimensionId: number;
  requests: number;
}

/** What requests belong to, in addition to their key. Sums refer to it by number. */
export interface UsageLabelRow {
  /** The first 53 bits of the hash of the other columns. */
  id: number;
  organizationId: string;
  projectId: string;
  kind: "end_user" | "tag" | "tool" | "prompt";
  value: string;
}

/** Requests with a label in an hour (3600) or a UTC day (86400). A request with several labels is in the sum of each. */
interface UsageLabelRollupRow extends UsageRollupRow {
  labelId: number;
}

/** Last batch of each process, so that a repeated batch counts once. */
interface UsageWriterRow {
  id: string;
  lastBatch: number;
  writtenAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    usageDimensions: UsageDimensionRow;
    usageRecords: UsageRecordRow;
    usageRollups: UsageRollupRow;
    usageLabels: UsageLabelRow;
    usageLabelRollups: UsageLabelRollupRow;
    usageWriters: UsageWriterRow;
  }
}

export const usageSumData = {
  usageRecords: { reason: "Sums of usage_dimensions, which names the caller." },
  usageRollups: { reason: "Sums of usage_dimensions, which names the caller." },
  usageLabelRollups: { reason: "Sums of usage_labels, which names the end user." },
  usageWriters: { reason: "Processes that write usage." },
} as const satisfies PersonalData;
