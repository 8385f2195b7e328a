/** Vector stores as OpenAI's clients create and read them. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOf, parsedListOf } from "../../kernel/list-of.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { Metadata } from "../responses/metadata.ts";
import { AttributesBody } from "./attribute-filters.ts";
import { optional } from "./optional.ts";
import { PAGE_QUERY, toSeconds, toSecondsOrNull } from "./organization/organization-list.ts";

const Expiry = lazy.strictObject(() => ({ anchor: z.literal("last_active_at"), days: z.int().min(1).max(365) }));
const id = z.string().min(1).max(100);

const StaticChunking = lazy
  .strictObject(() => ({
    max_chunk_size_tokens: z.int().min(100).max(4096),
    chunk_overlap_tokens: z.int().min(0),
  }))
  .refine((chunking) => chunking.chunk_overlap_tokens <= chunking.max_chunk_size_tokens / 2, {
    error: "it must be at most half of max_chunk_size_tokens",
    path: ["chunk_overlap_tokens"],
  });

export const ChunkingBody = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("auto") }),
  z.strictObject({ type: z.literal("static"), static: StaticChunking }),
]);

const FileCounts = lazy.object(() => ({
  in_progress: z.int(),
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  total: z.int(),
}));

export const VectorStore = named(
  "VectorStore",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("vector_store"),
    created_at: z.int(),
    name: z.string(),
    description: z.string().nullable(),
    usage_bytes: z.int(),
    file_counts: FileCounts,
    status: z.enum(["expired", "in_progress", "completed"]),
    expires_after: Expiry.optional(),
    expires_at: z.int().nullable(),
    last_active_at: z.int().nullable(),
    metadata: z.record(z.string(), z.string()).nullable(),
    embedding_model: z.string().describe("Model of the vectors. Not in OpenAI's API."),
  })),
);

export const VectorStoreFile = named(
  "VectorStoreFile",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("vector_store.file"),
    usage_bytes: z.int(),
    created_at: z.int(),
    vector_store_id: z.string(),
    status: z.enum(["in_progress", "completed", "cancelled", "failed"]),
    last_error: z
      .object({ code: z.enum(["server_error", "unsupported_file", "invalid_file"]), message: z.string() })
      .nullable(),
    chunking_strategy: z.object({ type: z.literal("static"), static: z.object(StaticChunking.shape) }),
    attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullable(),
  })),
);

export const VectorStoreFileBatch = named(
  "VectorStoreFileBatch",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("vector_store.files_batch"),
    created_at: z.int(),
    vector_store_id: z.string(),
    status: z.enum(["in_progress", "completed", "cancelled", "failed"]),
    file_counts: FileCounts,
  })),
);

export const VectorStoreBody = named(
  "VectorStoreBody",
  lazy.strictObject(() => ({
    name: optional(z.string().max(256)),
    description: optional(z.string().max(512)),
    file_ids: optional(listOf(id).max(500)),
    expires_after: optional(Expiry),
    chunking_strategy: optional(ChunkingBody),
    metadata: optional(Metadata),
    embedding_model: optional(
      z.string().min(1).max(256).describe("Model of the vectors. Default: the service's. Not in OpenAI's API."),
    ),
  })),
);

/** Null clears a field. */
export const VectorStoreChanges = named(
  "VectorStoreChanges",
  lazy.strictObject(() => ({
    name: z.string().max(256).nullish(),
    expires_after: Expiry.nullish(),
    metadata: Metadata.nullish(),
  })),
);

export const StoreFileBody = named(
  "VectorStoreFileBody",
  lazy.strictObject(() => ({
    file_id: id,
    attributes: optional(AttributesBody),
    chunking_strategy: optional(ChunkingBody),
  })),
);

export const StoreFileChanges = named(
  "VectorStoreFileChanges",
  z.strictObject({ attributes: AttributesBody.nullable() }),
);

const MAX_BATCH_FILES = 2000;

export const FileBatchBody = named(
  "VectorStoreFileBatchBody",
  lazy
    .strictObject(() => ({
      file_ids: optional(listOf(id).min(1).max(MAX_BATCH_FILES)),
      files: optional(parsedListOf(StoreFileBody).min(1).max(MAX_BATCH_FILES)),
      attributes: optional(AttributesBody),
      chunking_strategy: optional(ChunkingBody),
    }))
    .refine((body) => (body.file_ids === undefined) !== (body.files === undefined), {
      error: "send either `file_ids` or `files`",
      path: ["file_ids"],
    }),
);

const page = { ...PAGE_QUERY, before: z.string().min(1).optional(), order: z.enum(["asc", "desc"]).default("desc") };
export const VectorStoreListQuery = z.looseObject(page);
export const StoreFileListQuery = lazy.looseObject(() => ({
  ...page,
  filter: z.enum(["in_progress", "completed", "failed", "cancelled"]).optional(),
}));

export const StoreFileContent = named(
  "VectorStoreFileContent",
  lazy.object(() => ({
    object: z.literal("vector_store.file_content.page"),
    data: z.array(z.object({ type: z.literal("text"), text: z.string() })),
    has_more: z.boolean(),
    next_page: z.string().nullable(),
  })),
);

export interface ShownCounts {
  in_progress: number;
  completed: number;
  failed: number;
  cancelled: number;
}

export interface ShownStore {
  id: string;
  name: string;
  description: string | null;
  /** JSON object. */
  metadata: string | null;
  /** Catalog ID of the model that embeds its chunks and queries. */
  embeddingModel: string;
  createdAt: number;
  lastActiveAt: number;
  expiresAfterDays: number | null;
  expiresAt: number | null;
}

export function toVectorStore(
  store: ShownStore,
  { counts, usageBytes }: { counts: ShownCounts; usageBytes: number },
): AnswerOf<typeof VectorStore> {
  const isExpired = store.expiresAt !== null && store.expiresAt <= Date.now();
  return {
    id: store.id,
    object: "vector_store",
    created_at: toSeconds(store.createdAt),
    name: store.name,
    description: store.description,
    usage_bytes: usageBytes,
    file_counts: toCounts(counts),
    status: isExpired ? "expired" : counts.in_progress > 0 ? "in_progress" : "completed",
    ...(store.expiresAfterDays !== null && {
      expires_after: { anchor: "last_active_at" as const, days: store.expiresAfterDays },
    }),
    expires_at: toSecondsOrNull(store.expiresAt),
    last_active_at: toSeconds(store.lastActiveAt),
    metadata: store.metadata === null ? null : (JSON.parse(store.metadata) as Record<string, string>),
    embedding_model: store.embeddingModel,
  };
}

export interface ShownStoreFile {
  /** ID of the file. */
  id: string;
  vectorStoreId: string;
  status: AnswerOf<typeof VectorStoreFile>["status"];
  errorCode: NonNullable<AnswerOf<typeof VectorStoreFile>["last_error"]>["code"] | null;
  errorMessage: string | null;
  maxTokens: number;
  overlapTokens: number;
  /** JSON object. */
  attributes: string | null;
  /** Bytes of its chunks and vectors. */
  usageBytes: number;
  createdAt: number;
}

export function toStoreFile(file: ShownStoreFile): AnswerOf<typeof VectorStoreFile> {
  return {
    id: file.id,
    object: "vector_store.file",
    usage_bytes: file.usageBytes,
    created_at: toSeconds(file.createdAt),
    vector_store_id: file.vectorStoreId,
    status: file.status,
    last_error: file.errorCode === null ? null : { code: file.errorCode, message: file.errorMessage ?? "" },
    chunking_strategy: {
      type: "static",
      static: { max_chunk_size_tokens: file.maxTokens, chunk_overlap_tokens: file.overlapTokens },
    },
    attributes: file.attributes === null ? null : JSON.parse(file.attributes),
  };
}

export function toFileBatch(
  batch: { id: string; vectorStoreId: string; createdAt: number; cancelledAt: number | null },
  counts: ShownCounts,
): AnswerOf<typeof VectorStoreFileBatch> {
  const hasFailed = counts.failed > 0 && counts.completed === 0;
  const ended = batch.cancelledAt !== null ? "cancelled" : hasFailed ? "failed" : "completed";
  return {
    id: batch.id,
    object: "vector_store.files_batch",
    created_at: toSeconds(batch.createdAt),
    vector_store_id: batch.vectorStoreId,
    status: counts.in_progress > 0 ? "in_progress" : ended,
    file_counts: toCounts(counts),
  };
}

function toCounts({ in_progress, completed, failed, cancelled }: ShownCounts) {
  return { in_progress, completed, failed, cancelled, total: in_progress + completed + failed + cancelled };
}
