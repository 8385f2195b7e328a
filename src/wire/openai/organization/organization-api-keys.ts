import { z } from "zod";
import { ALL_PERMISSIONS } from "../../../contracts/permissions.ts";
import { unsupportedValue } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf } from "../../../kernel/list-of.ts";
import type { Secret } from "../../../kernel/secret.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type {
  AdminApiKey,
  CreatedAdminApiKey,
  CreatedKey,
  CreatedProjectApiKey,
  OrganizationApiKey,
  ProjectApiKey,
} from "../../openapi/organization-answers.ts";
import { ORDER_QUERY, PAGE_QUERY, toSeconds, toSecondsOrNull } from "./organization-list.ts";

const TEN_YEARS_SECONDS = 315_360_000;
const MAX_SEARCH_LENGTH = 200;

export const EXPIRES_IN_SECONDS = z.int().min(1).max(TEN_YEARS_SECONDS);
/** Permissions of keys; `project.own_keys.write` is about keys of a user. */
const KEY_PERMISSIONS = ALL_PERMISSIONS.filter((permission) => permission !== "project.own_keys.write");
const scopes = listOf(z.string()).optional();

export const AdminApiKeyCreateBody = named(
  "AdminApiKeyCreateBody",
  lazy.strictObject(() => ({
    name: z.string(),
    expires_in_seconds: EXPIRES_IN_SECONDS.nullish(),
    permissions: listOf(z.enum(KEY_PERMISSIONS))
      .min(1)
      .nullish()
      .describe("What the key allows; default: everything. `organization.scim.write` makes a key for SCIM clients."),
  })),
);
/** Query of every list of keys; searching is an extension. */
const KEY_LIST_QUERY = {
  ...PAGE_QUERY,
  ...ORDER_QUERY,
  search: z.string().max(MAX_SEARCH_LENGTH).optional().describe("Part of the name or of the redacted value."),
};

export const AdminApiKeyListQuery = lazy.strictObject(() => ({
  ...KEY_LIST_QUERY,
  // The client may send `after` empty when it has none.
  after: z.string().nullish(),
}));
export const ServiceAccountKeyCreateBody = named(
  "ServiceAccountKeyCreateBody",
  lazy.strictObject(() => ({
    name: z.string().optional(),
    expires_in_seconds: EXPIRES_IN_SECONDS.nullish(),
    scopes,
  })),
);
export const ProjectApiKeyCreateBody = named(
  "ProjectApiKeyCreateBody",
  lazy.strictObject(() => ({
    name: z.string(),
    expires_in_seconds: EXPIRES_IN_SECONDS.nullish(),
  })),
);
export const OrganizationApiKeyListQuery = lazy.strictObject(() => ({
  ...KEY_LIST_QUERY,
  kind: z.enum(["project", "admin"]).optional(),
  project_id: z.string().min(1).optional().describe("Lists the keys of one project only."),
}));
export const ServiceAccountKeyListQuery = z.strictObject(KEY_LIST_QUERY);
/** Longest time for which a rotated key goes on working. */
const MAX_OVERLAP_SECONDS = 30 * 86_400;
export const ProjectApiKeyRotateBody = named(
  "ProjectApiKeyRotateBody",
  lazy.strictObject(() => ({
    overlap_seconds: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_SECONDS)
      .default(86_400)
      .describe("How long the old key goes on working."),
  })),
);
export const ProjectApiKeyUpdateBody = named(
  "ProjectApiKeyUpdateBody",
  lazy.strictObject(() => ({
    name: z.string().optional().describe("Not in OpenAI's API."),
    expires_in_seconds: EXPIRES_IN_SECONDS.nullish().describe("Counted from now. Null: the key no longer expires."),
    scopes,
  })),
);
export const ProjectApiKeyListQuery = lazy.strictObject(() => ({
  ...KEY_LIST_QUERY,
  owner_project_access: z.enum(["active", "inactive", "any"]).default("any"),
}));

export function refuseScopes(body: { scopes?: string[] | undefined }): void {
  if ((body.scopes ?? []).length === 0) return;
  throw unsupportedValue("'scopes' is not supported: use the model permissions of the key's project.", "scopes");
}

export interface ShownApiKey {
  id: string;
  name: string;
  redactedValue: string;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
  lastUsedAddress: string | null;
  /** User agent of the last use. */
  lastUsedClient: string | null;
  /** JSON array of the permissions of a restricted admin key. */
  permissions?: string | null;
}

interface Owner {
  id: string;
  name: string;
  role: string;
  createdAt: number;
}

interface UserOwner extends Omit<Owner, "createdAt"> {
  email: string;
  addedAt: number;
}

/** Service account or user. */
export type KeyOwner = Owner | UserOwner;

/** A key with its secret, which is shown once. */
export interface ShownKey {
  key: ShownApiKey;
  secret: Secret;
}

type ApiKeyKind = "project" | "admin" | "restricted" | "operator";

/** `owner` is undefined for keys that the operator created. */
export function toProjectApiKey(key: ShownApiKey, owner: KeyOwner | undefined): AnswerOf<typeof ProjectApiKey> {
  return {
    object: "organization.project.api_key" as const,
    ...common(key),
    owner_project_access: "active" as const,
    owner: toOwner(key, owner),
  };
}

function toOwner(key: ShownApiKey, owner: KeyOwner | undefined) {
  if (owner === undefined) return { type: "user" as const, user: { ...operator(key), email: "" } };
  const { id, name, role } = owner;
  if ("email" in owner) {
    const user = { id, name, role, email: owner.email, created_at: toSeconds(owner.addedAt) };
    return { type: "user" as const, user };
  }
  const account = { id, name, role, created_at: toSeconds(owner.createdAt) };
  return { type: "service_account" as const, service_account: account };
}

export function toCreatedProjectApiKey(
  { key, secret }: ShownKey,
  owner: KeyOwner | undefined,
): AnswerOf<typeof CreatedProjectApiKey> {
  return { ...toProjectApiKey(key, owner), value: secret.reveal() };
}

export function toOrganizationApiKey(
  key: ShownApiKey & { kind: ApiKeyKind; projectId: string | null; serviceAccountId: string | null },
): AnswerOf<typeof OrganizationApiKey> {
  return {
    object: "organization.api_key" as const,
    ...common(key),
    kind: key.kind === "project" ? "project" : "admin",
    project_id: key.projectId,
    service_account_id: key.serviceAccountId,
  };
}

/** `owner` is undefined for keys that the operator created. */
export function toAdminApiKey(key: ShownApiKey, owner: UserOwner | undefined): AnswerOf<typeof AdminApiKey> {
  return {
    object: "organization.admin_api_key" as const,
    ...common(key),
    ...(key.permissions != null && { permissions: JSON.parse(key.permissions) as string[] }),
    owner: {
      object: "organization.user",
      type: "user",
      ...(owner === undefined
        ? operator(key)
        : { id: owner.id, name: owner.name, role: owner.role, created_at: toSeconds(owner.addedAt) }),
    },
  };
}

export function toCreatedAdminApiKey(
  { key, secret }: ShownKey,
  owner: UserOwner | undefined,
): AnswerOf<typeof CreatedAdminApiKey> {
  return { ...toAdminApiKey(key, owner), value: secret.reveal() };
}

export function toCreatedServiceAccountKey({ key, secret }: ShownKey): AnswerOf<typeof CreatedKey> {
  return {
    object: "organization.project.service_account.api_key" as const,
    id: key.id,
    name: key.name,
    created_at: toSeconds(key.createdAt),
    expires_at: toSecondsOrNull(key.expiresAt),
    value: secret.reveal(),
  };
}

function common(key: ShownApiKey) {
  return {
    id: key.id,
    name: key.name,
    redacted_value: key.redactedValue,
    created_at: toSeconds(key.createdAt),
    expires_at: toSecondsOrNull(key.expiresAt),
    last_used_at: toSecondsOrNull(key.lastUsedAt),
    last_used_address: key.lastUsedAddress,
    last_used_client: key.lastUsedClient,
  };
}

/** Renders the operator as a user, which clients expect as the owner. */
function operator(key: ShownApiKey) {
  return { id: "operator", name: "Operator", role: "owner", created_at: toSeconds(key.createdAt) };
}
