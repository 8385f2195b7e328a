/** Files as Anthropic's clients send, list and read them. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import type { ParsedFileForm } from "../openai/files.ts";
import { queryNumber } from "../openai/organization/organization-list.ts";
import { parse } from "../openai/validate.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { PAGE_QUERY, pageOf, toTime } from "./lists.ts";

export const FileMetadata = named(
  "FileMetadata",
  lazy.object(() => ({
    id: z.string(),
    type: z.literal("file"),
    filename: z.string(),
    mime_type: z.string(),
    size_bytes: z.int().min(0),
    downloadable: z.literal(true),
    created_at: z.string(),
    expires_at: z.string(),
  })),
);

export const FileMetadataList = named(
  "FileMetadataList",
  lazy.object(() => pageOf(FileMetadata)),
);

export const DeletedFile = named(
  "DeletedFile",
  lazy.object(() => ({ id: z.string(), type: z.literal("file_deleted") })),
);

const ids = z.union([z.string(), z.array(z.string())]).optional();

export const FileMetadataQuery = lazy.looseObject(() => ({
  ...PAGE_QUERY,
  ids,
  "ids[]": ids,
}));

/** Fields of the multipart form, beside its `file`; those of OpenAI's form are read as well. */
const Form = lazy.looseObject(() => ({
  expires_in_seconds: queryNumber(z.int().min(3600).max(2_592_000)).optional(),
}));

/** Throws a Fault. */
export function readFileMetadataForm(fields: readonly (readonly [name: string, value: string])[]): ParsedFileForm {
  const { expires_in_seconds: expiresAfterSeconds } = parse(Form, Object.fromEntries(fields));
  return { purpose: "user_data", expiresAfterSeconds };
}

interface ShownFile {
  id: string;
  bytes: number;
  createdAt: number;
  expiresAt: number;
  filename: string;
}

/** `mediaType`: by the file's name. */
export function toFileMetadata(file: ShownFile, mediaType: string): AnswerOf<typeof FileMetadata> {
  return {
    id: file.id,
    type: "file",
    filename: file.filename,
    mime_type: mediaType,
    size_bytes: file.bytes,
    downloadable: true,
    created_at: toTime(file.createdAt),
    expires_at: toTime(file.expiresAt),
  };
}
