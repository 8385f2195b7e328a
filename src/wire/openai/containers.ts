/** Bodies and answers of /v1/containers. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { named } from "../openapi/named.ts";
import { optional } from "./optional.ts";
import { PAGE_QUERY } from "./organization/organization-list.ts";
import { ContainerSkills } from "./skills.ts";

/** Minutes without a call after which a container is deleted. */
export const DEFAULT_EXPIRY_MINUTES = 20;
const MAX_EXPIRY_MINUTES = 1440;
export const MAX_CONTAINER_FILES = 50;

export const ContainerBody = named(
  "ContainerBody",
  lazy.strictObject(() => ({
    name: z.string().min(1).max(256),
    expires_after: optional(
      z.strictObject({ anchor: z.literal("last_active_at"), minutes: z.int().min(1).max(MAX_EXPIRY_MINUTES) }),
    ),
    file_ids: optional(listOf(z.string().min(1)).max(MAX_CONTAINER_FILES)),
    skills: optional(ContainerSkills),
    memory_limit: optional(z.enum(["1g", "4g", "16g", "64g"])),
    network_policy: optional(z.strictObject({ type: z.literal("disabled") })),
  })),
);

export const ContainerListQuery = lazy.strictObject(() => ({
  ...PAGE_QUERY,
  order: z.enum(["asc", "desc"]).default("desc"),
  name: z.string().optional().describe("Containers with this name only."),
}));
export const ContainerFileListQuery = lazy.strictObject(() => ({
  ...PAGE_QUERY,
  order: z.enum(["asc", "desc"]).default("desc"),
}));
export const ContainerFileForm = named(
  "ContainerFileForm",
  lazy.object(() => ({ file_id: z.string().min(1).optional() })),
);
export const ContainerFileFiles = z.object({ file: z.file().optional() });

/** Body of JSON, which names a file of the project. */
export const StoredContainerFile = lazy.looseObject(() => ({ file_id: z.string().min(1) }));

const seconds = z.int();

export const ContainerAnswer = named(
  "Container",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("container"),
    created_at: seconds,
    status: z.literal("running"),
    expires_after: z.object({ anchor: z.literal("last_active_at"), minutes: z.int() }),
    last_active_at: seconds,
    name: z.string(),
    network_policy: z.object({ type: z.literal("disabled") }),
  })),
);

export const ContainerFileAnswer = named(
  "ContainerFile",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("container.file"),
    created_at: seconds,
    bytes: z.int(),
    container_id: z.string(),
    path: z.string(),
    source: z.enum(["user", "assistant"]),
  })),
);

export interface ShownContainer {
  id: string;
  name: string;
  createdAt: number;
  lastActiveAt: number;
  expiresAfterMinutes: number;
}

const toSeconds = (milliseconds: number) => Math.floor(milliseconds / 1000);

export function toContainer({ id, name, createdAt, lastActiveAt, expiresAfterMinutes }: ShownContainer) {
  const expires_after = { anchor: "last_active_at" as const, minutes: expiresAfterMinutes };
  const times = { created_at: toSeconds(createdAt), last_active_at: toSeconds(lastActiveAt), expires_after };
  const fixed = { object: "container", status: "running", network_policy: { type: "disabled" } } as const;
  return { id, name, ...fixed, ...times };
}

export interface ShownContainerFile {
  id: string;
  containerId: string;
  /** Below /mnt/data. */
  path: string;
  content: { length: number };
  source: "user" | "assistant";
  createdAt: number;
}

export function toContainerFile({ id, containerId, path, content, source, createdAt }: ShownContainerFile) {
  const times = { created_at: toSeconds(createdAt), bytes: content.length };
  return { id, object: "container.file" as const, ...times, container_id: containerId, path, source };
}

/** Returns a page of entries in memory, which are in ascending order. */
export function pageOf<Entry extends { id: string }>(
  entries: readonly Entry[],
  { after, limit, order }: { after?: string | undefined; limit: number; order: "asc" | "desc" },
): { entries: Entry[]; hasMore: boolean } {
  const ordered = order === "asc" ? [...entries] : entries.toReversed();
  const start = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  return { entries: ordered.slice(start, start + limit), hasMore: ordered.length > start + limit };
}
