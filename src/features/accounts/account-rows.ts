/** Rows of organizations, projects, service accounts, keys, access to models and the audit log. Times are epoch milliseconds. */

import { type PersonalData, PSEUDONYM } from "../../storage/personal-data.ts";
import type { ShownApiKey } from "../../wire/openai/organization/organization-api-keys.ts";

export interface OrganizationRow {
  id: string;
  name: string;
  /** 1 for the organization created at first start, the default of the operator's commands. */
  isDefault: number;
  createdAt: number;
  archivedAt: number | null;
}

export interface ProjectRow {
  id: string;
  organizationId: string;
  name: string;
  isDefault: number;
  createdAt: number;
  archivedAt: number | null;
  /** JSON object with the rules for keys of users. */
  keyRules?: string | null;
}

export interface ServiceAccountRow {
  id: string;
  organizationId: string;
  projectId: string;
  name: string;
  role: "owner" | "member" | "none";
  createdAt: number;
  deletedAt: number | null;
}

export interface ApiKeyRow extends ShownApiKey {
  organizationId: string;
  /** Null for admin keys, which belong to an organization only. */
  projectId: string | null;
  serviceAccountId: string | null;
  /** `restricted`: an admin key with `permissions`; `operator`: temporary key of a command. */
  kind: "project" | "admin" | "restricted" | "operator";
  /** SHA-256 in hexadecimal. */
  keyHash: string;
  /** 1 for keys from the environment. */
  isFixed: number;
  revokedAt: number | null;
  /** User to whom the key belongs, with whose permissions it works. */
  userId: string | null;
  /** First key of the line in which each replaced the one before; null: it replaced none. */
  rootKeyId?: string | null;
}

export interface ModelPermissionsRow {
  /** The project or organization that it restricts. */
  scopeId: string;
  organizationId: string;
  mode: "allow_list" | "deny_list";
  /** A JSON array of strings. */
  modelIds: string;
  updatedAt: number;
}

export interface AuditLogRow {
  id: string;
  organizationId: string;
  effectiveAt: number;
  type: string;
  /** Null for commands of the operator. */
  actorKeyId: string | null;
  /** User who made the change, with a session or a key. */
  actorUserId: string | null;
  ipAddress: string | null;
  userAgent: string | null;
  projectId: string | null;
  projectName: string | null;
  resourceId: string;
  /** The changes, a JSON object. */
  details: string;
}

/** One row, whose version increases with every change that can affect a request. */
interface AccountChangesRow {
  id: number;
  version: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    organizations: OrganizationRow;
    projects: ProjectRow;
    serviceAccounts: ServiceAccountRow;
    apiKeys: ApiKeyRow;
    modelPermissions: ModelPermissionsRow;
    auditLogs: AuditLogRow;
    accountChanges: AccountChangesRow;
  }
}

const NO_PERSON = "Names of resources; persons are in other tables.";

export const accountData = {
  organizations: { reason: NO_PERSON, impersonal: { name: "Name of the organization." } },
  projects: { reason: NO_PERSON, texts: { columns: { name: "prose" }, within: "organizationId" } },
  serviceAccounts: { reason: NO_PERSON, texts: { columns: { name: "prose" }, within: "projectId" } },
  modelPermissions: { reason: "Settings of projects and organizations." },
  accountChanges: { reason: "One counter." },
  auditLogs: {
    rows: [
      {
        by: { actorUserId: "user", actorKeyId: "caller" },
        order: "id",
        erase: { actorUserId: PSEUDONYM, ipAddress: null, userAgent: null },
      },
      {
        by: { resourceId: "user" },
        hidden: ["actorKeyId", "actorUserId", "ipAddress", "userAgent"],
        order: "id",
        erase: { resourceId: PSEUDONYM, details: "{}" },
      },
      {
        by: { resourceId: "key" },
        hidden: ["actorKeyId", "actorUserId", "ipAddress", "userAgent"],
        order: "id",
        // The name of a key can be that of a person.
        erase: { details: "{}" },
      },
    ],
    texts: { columns: { details: "json", projectName: "prose" }, within: "organizationId" },
    impersonal: { userAgent: "Erased with its entry." },
  },
} as const satisfies PersonalData;
