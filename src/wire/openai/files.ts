/** Files as OpenAI's clients send, list and read them. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { PAGE_QUERY, queryNumber, toSeconds } from "./organization/organization-list.ts";
import { parse } from "./validate.ts";

export const File = named(
  "File",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("file"),
    bytes: z.int(),
    created_at: z.int(),
    expires_at: z.int(),
    filename: z.string(),
    purpose: z.enum(["assistants", "batch", "batch_output", "user_data", "vision", "evals"]),
    status: z.literal("processed"),
  })),
);

export const PURPOSES = ["assistants", "batch", "user_data", "vision", "evals"] as const;
/** OpenAI's clients may ask for as many in one page. */
const MAX_FILES_LISTED = 10_000;

/** Time until a file expires. */
export const FileExpiry = lazy.object(() => ({
  anchor: z.literal("created_at"),
  seconds: z.int().min(3600).max(2_592_000),
}));

/** Fields of the multipart form, beside its `file`. */
export const FileForm = named(
  "FileForm",
  lazy.looseObject(() => ({
    purpose: z
      .enum(PURPOSES)
      .describe(
        "assistants, user_data: a file for vector stores and chats. batch: input of a batch, as lines of JSON. vision: an image for chats. evals: rows of an eval, as lines of JSON.",
      ),
    "expires_after[anchor]": z.literal("created_at").optional(),
    "expires_after[seconds]": queryNumber(z.int().min(3600).max(2_592_000)).optional(),
  })),
);

export const FileListQuery = lazy.looseObject(() => ({
  ...PAGE_QUERY,
  limit: queryNumber(z.int().min(1).max(MAX_FILES_LISTED)).default(MAX_FILES_LISTED),
  order: z.enum(["asc", "desc"]).default("desc"),
  purpose: z.string().min(1).max(100).optional(),
}));

export interface ParsedFileForm {
  purpose: (typeof PURPOSES)[number];
  expiresAfterSeconds: number | undefined;
}

/** Throws a Fault for a missing or unknown purpose. */
export function readFileForm(fields: readonly (readonly [name: string, value: string])[]): ParsedFileForm {
  const form = parse(FileForm, Object.fromEntries(fields));
  return { purpose: form.purpose, expiresAfterSeconds: form["expires_after[seconds]"] };
}

export function toFileObject(file: {
  id: string;
  bytes: number;
  createdAt: number;
  expiresAt: number;
  filename: string;
  purpose: AnswerOf<typeof File>["purpose"];
}): AnswerOf<typeof File> {
  return {
    id: file.id,
    object: "file" as const,
    bytes: file.bytes,
    created_at: toSeconds(file.createdAt),
    expires_at: toSeconds(file.expiresAt),
    filename: file.filename,
    purpose: file.purpose,
    status: "processed" as const,
  };
}
