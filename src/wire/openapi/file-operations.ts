/** What the routes of files and batches take and answer. */

import { z } from "zod";
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
    purpose: z.enum(["batch", "batch_output", "user_data"]),
    status: z.literal("processed"),
    status_details: z.null(),
  }),
);

export const FILE_OPERATIONS: Readonly<Record<string, Operation>> = {
  "POST /v1/files": of({ form: FileForm, answer: File }),
  "GET /v1/files": of({ query: FileListQuery, answer: listOfEntries(File) }),
  "GET /v1/files/{file}": of({ answer: File }),
  "GET /v1/files/{file}/content": of({ content: ["application/octet-stream"] }),
  "DELETE /v1/files/{file}": of({ answer: deleted("file") }),
};
