/** Uploads in parts as OpenAI's clients create and complete them. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { File, FileExpiry, PURPOSES } from "./files.ts";
import { optional } from "./optional.ts";
import { toSeconds } from "./organization/organization-list.ts";

export const Upload = named(
  "Upload",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("upload"),
    bytes: z.int(),
    created_at: z.int(),
    expires_at: z.int(),
    filename: z.string(),
    purpose: File.shape.purpose,
    status: z.enum(["pending", "completed", "cancelled", "expired"]),
    file: File.nullable(),
  })),
);

export const UploadPart = named(
  "UploadPart",
  lazy.object(() => ({ id: z.string(), object: z.literal("upload.part"), created_at: z.int(), upload_id: z.string() })),
);

export const UploadBody = named(
  "UploadBody",
  lazy.strictObject(() => ({
    filename: z.string().min(1).max(255),
    purpose: z.enum(PURPOSES),
    bytes: z.int().min(1).describe("Size of the complete file."),
    mime_type: z.string().min(1).max(255),
    expires_after: optional(FileExpiry),
  })),
);

const MAX_PARTS = 10_000;

export const CompleteUploadBody = named(
  "CompleteUploadBody",
  lazy.strictObject(() => ({
    part_ids: listOf(z.string().min(1).max(100)).min(1).max(MAX_PARTS).describe("Parts in the order of the file."),
    md5: optional(z.string().regex(/^[0-9a-f]{32}$/i, { error: "it must be an MD5 hash in hexadecimal" })),
  })),
);

export const UploadPartFiles = z.object({ data: z.file() });

export const UploadPartForm = named("UploadPartForm", z.looseObject({}));

export interface ShownUpload {
  id: string;
  /** Bytes of the complete file, as announced. */
  bytes: number;
  createdAt: number;
  expiresAt: number;
  filename: string;
  purpose: AnswerOf<typeof File>["purpose"];
  status: "pending" | "completing" | "completed" | "cancelled";
}

export function toUploadObject(
  upload: ShownUpload,
  file: AnswerOf<typeof File> | null,
  now = Date.now(),
): AnswerOf<typeof Upload> {
  const isOpen = upload.status === "pending" || upload.status === "completing";
  const isExpired = isOpen && upload.expiresAt <= now;
  return {
    id: upload.id,
    object: "upload",
    bytes: upload.bytes,
    created_at: toSeconds(upload.createdAt),
    expires_at: toSeconds(upload.expiresAt),
    filename: upload.filename,
    purpose: upload.purpose,
    status: isExpired ? "expired" : upload.status === "completing" ? "pending" : upload.status,
    file,
  };
}
