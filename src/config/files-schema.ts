/** Schema of the files and batches in parlance.yaml. */

import { z } from "zod";
import { directory, memory } from "./sizes.ts";

const s3 = z
  .strictObject({
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
  })
  .describe(
    "S3-compatible store of the files, instead of a directory. Its keys are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
  );

export const files = z
  .strictObject({
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
        "Maximum size of the files that one project stores, such as 500MB; further uploads get a 429. Results of batches count, but are always stored.",
      ),
    keep_days: z
      .int()
      .min(1)
      .max(36_500)
      .default(30)
      .describe("Days to keep a file, and a batch that has ended; an upload can ask for less."),
  })
  .describe("Storage of the Files API.");

export const batches = z
  .strictObject({
    max_lines: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(50_000)
      .describe("Maximum number of requests in one batch; a longer input fails."),
    concurrent_lines: z
      .int()
      .min(1)
      .max(1000)
      .default(8)
      .describe("Requests of one batch that run or wait for a slot at the same time."),
    concurrent_batches: z
      .int()
      .min(1)
      .max(100)
      .default(4)
      .describe("Batches that one replica runs at the same time; further ones wait, and projects take turns."),
  })
  .describe("Batches of requests.");
