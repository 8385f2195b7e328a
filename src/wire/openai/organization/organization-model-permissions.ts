import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf } from "../../../kernel/list-of.ts";
import { named } from "../../openapi/named.ts";

const MAX_ENTRIES = 1_000;
const MAX_ENTRY_LENGTH = 256;

/** Entries are IDs, wildcards that end in `/*`, or `group:` with an access group's name. */
export const ModelPermissionsBody = named(
  "ModelPermissionsBody",
  lazy.strictObject(() => ({
    mode: z.enum(["allow_list", "deny_list"]),
    model_ids: listOf(z.string().min(1).max(MAX_ENTRY_LENGTH)).max(MAX_ENTRIES),
  })),
);

interface ModelPermissions {
  mode: "allow_list" | "deny_list";
  modelIds: readonly string[];
}

type Owner = "project" | "organization";

/** Renders permissions; an owner without any denies nothing. */
export function toModelPermissions<Of extends Owner>(owner: Of, permissions: ModelPermissions | undefined) {
  const { mode, modelIds } = permissions ?? { mode: "deny_list" as const, modelIds: [] };
  return { object: `${owner}.model_permissions` as const, mode, model_ids: [...modelIds] };
}

export function toModelPermissionsDeleted<Of extends Owner>(owner: Of, deleted: boolean) {
  return { object: `${owner}.model_permissions.deleted` as const, deleted };
}
