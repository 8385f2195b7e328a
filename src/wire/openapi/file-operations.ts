/** What the routes of files and batches take and answer. */

import { z } from "zod";
import { BATCH_ENDPOINTS, BatchBody, BatchListQuery } from "../openai/batches.ts";
import { FileForm, FileListQuery } from "../openai/files.ts";
import { named } from "./components.ts";
import type { Operation } from "./operation.ts";
import { deleted, listOfEntries } from "./organization-answers.ts";

const of = (operation: Omit<Operation, "errors">): Operation => ({ ...operation, errors: "inference" });

const File = named(
  "File",
  z.object({
    id: z.string(),
    object: z.literal("file"),
    bytes: z.int(),
    created_at: z.int(),
    expires_at: z.int(),
    filename: z.string(),
    purpose: z.enum(["batch", "batch_output", "user_data", "vision"]),
    status: z.literal("processed"),
    status_details: z.null(),
  }),
);

const secondsOrNull = z.int().nullable();

const Batch = named(
  "Batch",
  z.object({
    id: z.string(),
    object: z.literal("batch"),
    endpoint: z.enum(BATCH_ENDPOINTS),
    errors: z
      .object({
        object: z.literal("list"),
        data: z.array(
          z.object({
            code: z.string(),
            message: z.string(),
            param: z.string().nullable(),
            line: z.int().nullable().describe("Number of the line in the input, from 1."),
          }),
        ),
      })
      .nullable(),
    input_file_id: z.string(),
    completion_window: z.string(),
    status: z.enum([
      "validating",
      "in_progress",
      "finalizing",
      "cancelling",
      "completed",
      "failed",
      "expired",
      "cancelled",
    ]),
    output_file_id: z.string().nullable(),
    error_file_id: z.string().nullable(),
    created_at: z.int(),
    in_progress_at: secondsOrNull,
    expires_at: z.int(),
    finalizing_at: secondsOrNull,
    completed_at: secondsOrNull,
    failed_at: secondsOrNull,
    expired_at: secondsOrNull,
    cancelling_at: secondsOrNull,
    cancelled_at: secondsOrNull,
    request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
    metadata: z.record(z.string(), z.string()).nullable(),
  }),
);

export const FILE_OPERATIONS: Readonly<Record<string, Operation>> = {
  "POST /v1/files": of({ form: FileForm, answer: File }),
  "GET /v1/files": of({ query: FileListQuery, answer: listOfEntries(File) }),
  "GET /v1/files/{file}": of({ answer: File }),
  "GET /v1/files/{file}/content": of({ content: ["application/octet-stream"] }),
  "DELETE /v1/files/{file}": of({ answer: deleted("file") }),
  "POST /v1/batches": of({ body: BatchBody, answer: Batch }),
  "GET /v1/batches": of({ query: BatchListQuery, answer: listOfEntries(Batch) }),
  "GET /v1/batches/{batch}": of({ answer: Batch }),
  "POST /v1/batches/{batch}/cancel": of({ answer: Batch }),
};
