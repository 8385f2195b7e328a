/**
 * The tables as both databases hold them: text, integers, and times in epoch milliseconds. Columns are named
 * in snake_case there, which Kysely's plugin translates. Null in a time means that it has not happened.
 */

import type { Operation, RecordedUsage } from "../usage.ts";

export interface Schema {
  organizations: OrganizationRow;
  projects: ProjectRow;
  serviceAccounts: ServiceAccountRow;
  apiKeys: ApiKeyRow;
  modelPermissions: ModelPermissionsRow;
  auditLogs: AuditLogRow;
  accountChanges: AccountChangesRow;
  modelSightings: ModelSightingRow;
  rateLimits: RateLimitRow;
  spendLimits: SpendLimitRow;
  moderationPolicies: ModerationPolicyRow;
  usageDimensions: UsageDimensionRow;
  usageRecords: UsageRecordRow;
  usageRollups: UsageRollupRow;
  usageWriters: UsageWriterRow;
}

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

export interface ApiKeyRow {
  id: string;
  organizationId: string;
  /** Null for an admin key, which belongs to an organization only. */
  projectId: string | null;
  serviceAccountId: string | null;
  kind: "project" | "admin";
  name: string;
  /** SHA-256 in hexadecimal. */
  keyHash: string;
  redactedValue: string;
  /** 1 when the operator fixed it in the environment. */
  isFixed: number;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
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
  /** Null for the operator's own commands. */
  actorKeyId: string | null;
  ipAddress: string | null;
  userAgent: string | null;
  projectId: string | null;
  projectName: string | null;
  resourceId: string;
  /** A JSON object: what changed. */
  details: string;
}

/** One row, whose version rises with every change that may decide about a request. */
interface AccountChangesRow {
  id: number;
  version: number;
}

interface ModelSightingRow {
  modelId: string;
  firstSeenAt: number;
}

/** Null: the configured default applies. */
export interface RateLimitRow {
  projectId: string;
  /** A catalog entry's id. */
  model: string;
  requestsPerMinute: number | null;
  requestsPerDay: number | null;
  tokensPerMinute: number | null;
  audioMegabytesPerMinute: number | null;
  concurrentRequests: number | null;
  updatedAt: number;
}

/** For a calendar month, UTC. */
export interface SpendLimitRow {
  /** The organization, project or key that it limits. */
  scopeId: string;
  organizationId: string;
  thresholdCents: number;
  /** 0: what is beyond it is only said in the log. */
  isEnforcing: number;
  updatedAt: number;
  /** Since when there is one; a change of it is the same limit. */
  begunAt: number;
}

/** How a project's chats are moderated. Null: as the request says. */
export interface ModerationPolicyRow {
  projectId: string;
  /** A catalog id or an alias. */
  model: string | null;
  inputMode: "score" | "block" | null;
  outputMode: "score" | "block" | null;
  updatedAt: number;
}

/** Who used what and where; named once, so that each record of use needs a number only. */
export interface UsageDimensionRow {
  /** The first 53 bits of the hash of the other columns. */
  id: number;
  organizationId: string;
  projectId: string;
  keyId: string;
  /** The catalog id that answered. */
  model: string;
  deployment: string;
  operation: Operation;
}

/** One request. */
export interface UsageRecordRow extends RecordedUsage {
  at: number;
  dimensionId: number;
  durationMilliseconds: number;
  outcome: "finished" | "client-left" | "failed";
}

/** All requests of an hour (3600) or a UTC day (86400). */
export interface UsageRollupRow extends RecordedUsage {
  bucketSeconds: number;
  beginsAt: number;
  dimensionId: number;
  requests: number;
}

/** How far each process has written, so that a batch that is sent again counts once. */
interface UsageWriterRow {
  id: string;
  lastBatch: number;
  writtenAt: number;
}
