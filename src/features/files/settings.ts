/** Section `files`. */

import { z } from "zod";
import type { Secret } from "../../kernel/secret.ts";
import { mapping } from "../../kernel/settings/mapping.ts";
import { directory, memory } from "../../kernel/settings/sizes.ts";

const s3 = mapping(
  () => ({
    bucket: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, { error: "must be the name of a bucket" })
      .describe("Bucket, which exists already."),
    endpoint: z
      .string()
      .refine((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""), { error: "must be an http or https URL" })
      .optional()
      .describe("URL of the store, without the bucket. Default: Amazon S3 in `region`."),
    region: z.string().min(1).max(100).default("us-east-1").describe("Region that requests are signed for."),
    prefix: z
      .string()
      .regex(/^([\w.-]+\/)*$/, { error: "must be empty or end in /, with letters, digits, _, . and -" })
      .max(200)
      .default("")
      .describe("Beginning of every key, such as `parlance/`."),
  }),
  "S3-compatible store of the files, instead of a directory. Its keys are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
);

export const fileSettings = mapping(
  () => ({
    directory: directory
      .optional()
      .describe(
        "Directory of uploaded files and batch results, relative to this file. Replicas need one that they share, or `s3`. Default: files in the data directory.",
      ),
    s3: s3.optional(),
    max_file_size: memory
      .prefault("200MB")
      .describe("Maximum size of an uploaded file, such as 200MB; larger files get a 413."),
    max_size_per_project: memory
      .prefault("5GiB")
      .describe(
        "Maximum size of the files that one project stores, such as 500MB; further uploads get a 429. Results of batches are always stored and count: beyond it, new batches get a 429, too.",
      ),
    keep_days: z
      .int()
      .min(1)
      .max(36_500)
      .default(30)
      .describe("Days to keep a file, and a batch that has ended; an upload can ask for less."),
  }),
  "Storage of the Files API.",
);

export type FileSettings = z.output<typeof fileSettings>;

/** Section `files.s3` with the keys of the environment. */
export interface S3Options extends z.output<typeof s3> {
  /** URL of the store, without the bucket. */
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: Secret;
  sessionToken: Secret | undefined;
}

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    files: Omit<FileSettings, "directory" | "s3"> & { directory: string; s3: S3Options | undefined };
  }
}
