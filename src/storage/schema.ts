/**
 * Tables of both databases: text, integers, encrypted bytes, and times in epoch milliseconds. Their columns have snake_case names, which
 * a plugin of Kysely translates. A time that is null has not happened.
 */

import type {
  GroupMemberRow,
  GroupRow,
  InviteRow,
  ProjectGroupRow,
  ProjectUserRow,
  RoleAssignmentRow,
  RoleRow,
  UserRow,
} from "../features/accounts/people-rows.ts";
import type { BatchPartRow, BatchRow } from "../features/batches/batch-rows.ts";
import type { BudgetRow, SpendAlertRow } from "../features/budgets/budget-rows.ts";
import type { CachedAnswerRow } from "../features/cache/cached-answer-rows.ts";
import type {
  ConfigurationChangeRow,
  ConfigurationEntryRow,
  ConfigurationStateRow,
  ConfigurationVersionRow,
} from "../features/configuration/configuration-rows.ts";
import type { EvalItemRow, EvalRow, EvalRunRow } from "../features/evals/eval-rows.ts";
import type { FileRow } from "../features/files/file-rows.ts";
import type { ProjectGuardrailsRow } from "../features/guardrails/guardrail-rows.ts";
import type { MailDeliveryRow } from "../features/mail/mail-rows.ts";
import type { McpCallRow } from "../features/mcp/mcp-call-rows.ts";
import type { McpGrantRow } from "../features/mcp/mcp-grant-rows.ts";
import type { McpMessageRow } from "../features/mcp/mcp-rows.ts";
import type { PromptLabelRow, PromptRow, PromptVersionRow } from "../features/prompts/prompt-rows.ts";
import type { RequestFeedbackRow } from "../features/recorded-content/feedback-rows.ts";
import type { ProjectRecordingRow, RecordedContentRow } from "../features/recorded-content/recorded-content-rows.ts";
import type {
  ConversationRow,
  ResponseEventsRow,
  ResponseItemRow,
  StoredResponseRow,
} from "../features/responses/stored-response-rows.ts";
import type { SavedChatRow } from "../features/saved-chats/saved-chat-rows.ts";
import type {
  ExternalIdentityRow,
  PasswordLinkRow,
  UserPasswordRow,
  UserSessionRow,
} from "../features/sign-on/sign-on-rows.ts";
import type { UploadPartRow, UploadRow } from "../features/uploads/upload-rows.ts";
import type { RequestDimensionRow, RequestHistoryRow } from "../features/usage/request-history-rows.ts";
import type {
  VectorStoreBatchRow,
  VectorStoreFileRow,
  VectorStoreRow,
  VectorStoreSegmentRow,
} from "../features/vector-stores/vector-store-rows.ts";
import type { DeploymentOutageRow, WebhookDeliveryRow, WebhookLogRow } from "../features/webhooks/webhook-rows.ts";
import type { Operation, RecordedDetails, RecordedUsage } from "../kernel/usage.ts";

export interface Schema {
  mcpCalls: McpCallRow;
  configurationState: ConfigurationStateRow;
  configurationEntries: ConfigurationEntryRow;
  configurationVersions: ConfigurationVersionRow;
  configurationChanges: ConfigurationChangeRow;
  budgets: BudgetRow;
  mailDeliveries: MailDeliveryRow;
  cachedAnswers: CachedAnswerRow;
  webhookDeliveries: WebhookDeliveryRow;
  webhookLog: WebhookLogRow;
  spendAlerts: SpendAlertRow;
  deploymentOutages: DeploymentOutageRow;
  organizations: OrganizationRow;
  projects: ProjectRow;
  serviceAccounts: ServiceAccountRow;
  apiKeys: ApiKeyRow;
  users: UserRow;
  groups: GroupRow;
  groupMembers: GroupMemberRow;
  projectUsers: ProjectUserRow;
  projectGroups: ProjectGroupRow;
  roles: RoleRow;
  roleAssignments: RoleAssignmentRow;
  invites: InviteRow;
  consoleGrants: ConsoleGrantRow;
  externalIdentities: ExternalIdentityRow;
  userPasswords: UserPasswordRow;
  passwordLinks: PasswordLinkRow;
  userSessions: UserSessionRow;
  clientSecrets: ClientSecretRow;
  modelPermissions: ModelPermissionsRow;
  auditLogs: AuditLogRow;
  accountChanges: AccountChangesRow;
  modelSightings: ModelSightingRow;
  rateLimits: RateLimitRow;
  spendLimits: SpendLimitRow;
  moderationPolicies: ModerationPolicyRow;
  projectGuardrails: ProjectGuardrailsRow;
  usageDimensions: UsageDimensionRow;
  usageRecords: UsageRecordRow;
  usageRollups: UsageRollupRow;
  usageLabels: UsageLabelRow;
  usageLabelRollups: UsageLabelRollupRow;
  usageWriters: UsageWriterRow;
  replicaCount: ReplicaCountRow;
  storedResponses: StoredResponseRow;
  conversations: ConversationRow;
  responseItems: ResponseItemRow;
  responseEvents: ResponseEventsRow;
  requestDimensions: RequestDimensionRow;
  requestHistory: RequestHistoryRow;
  files: FileRow;
  evals: EvalRow;
  evalRuns: EvalRunRow;
  evalItems: EvalItemRow;
  prompts: PromptRow;
  promptVersions: PromptVersionRow;
  promptLabels: PromptLabelRow;
  batches: BatchRow;
  batchParts: BatchPartRow;
  projectRecordings: ProjectRecordingRow;
  recordedContents: RecordedContentRow;
  requestFeedback: RequestFeedbackRow;
  savedChats: SavedChatRow;
  mcpMessages: McpMessageRow;
  mcpGrants: McpGrantRow;
  uploads: UploadRow;
  uploadParts: UploadPartRow;
  vectorStores: VectorStoreRow;
  vectorStoreFiles: VectorStoreFileRow;
  vectorStoreBatches: VectorStoreBatchRow;
  vectorStoreSegments: VectorStoreSegmentRow;
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

export interface ApiKeyRow {
  id: string;
  organizationId: string;
  /** Null for admin keys, which belong to an organization only. */
  projectId: string | null;
  serviceAccountId: string | null;
  /** `restricted`: an admin key with `permissions`; `operator`: temporary key of a command. */
  kind: "project" | "admin" | "restricted" | "operator";
  name: string;
  /** SHA-256 in hexadecimal. */
  keyHash: string;
  redactedValue: string;
  /** 1 for keys from the environment. */
  isFixed: number;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
  lastUsedAddress: string | null;
  /** User agent of the last use. */
  lastUsedClient: string | null;
  /** User to whom the key belongs, with whose permissions it works. */
  userId: string | null;
  /** JSON array of the permissions of a restricted admin key. */
  permissions?: string | null;
}

/** Key that a console session acts with; a session has at most one of each kind. */
export interface ConsoleGrantRow {
  /** SHA-256 of the kind of key and the session's token, in hexadecimal. */
  tokenHash: string;
  sessionId: string;
  keyId: string;
  createdAt: number;
  expiresAt: number;
}

export interface ClientSecretRow {
  /** SHA-256 in hexadecimal. */
  secretHash: string;
  /** Key that the secret stands for. */
  keyId: string;
  /** Session configuration, encrypted with the secret, in base64. */
  session: string;
  createdAt: number;
  expiresAt: number;
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

interface ModelSightingRow {
  modelId: string;
  firstSeenAt: number;
}

/** Null: the configured default applies. */
export interface RateLimitRow {
  projectId: string;
  /** A catalog entry's ID. */
  model: string;
  requestsPerMinute: number | null;
  requestsPerDay: number | null;
  tokensPerMinute: number | null;
  audioMegabytesPerMinute: number | null;
  imagesPerMinute: number | null;
  concurrentRequests: number | null;
  updatedAt: number;
}

/** Spend limit for a calendar month, UTC. */
export interface SpendLimitRow {
  /** The organization, project or key that it limits. */
  scopeId: string;
  organizationId: string;
  thresholdCents: number;
  /** 0: only logs a warning. */
  isEnforcing: number;
  updatedAt: number;
  /** Identifies the limit: changes keep it, deletion and creation do not. */
  begunAt: number;
}

/** Moderation of a project's chats. Null: as requested. */
export interface ModerationPolicyRow {
  projectId: string;
  /** A catalog ID or an alias. */
  model: string | null;
  inputMode: "score" | "block" | null;
  outputMode: "score" | "block" | null;
  /** What happens to text in a language that the moderation model does not know. Null: `pass`. */
  unsupportedLanguage: "pass" | "refuse" | "model" | null;
  /** With `model`: a catalog ID or an alias. */
  unsupportedLanguageModel: string | null;
  updatedAt: number;
}

/** Caller, key, model and deployment of usage. Sums refer to it by number. */
export interface UsageDimensionRow {
  /** The first 53 bits of the hash of the other columns, of which the last two count only when they are set. */
  id: number;
  organizationId: string;
  projectId: string;
  keyId: string;
  /** The catalog ID that answered. */
  model: string;
  deployment: string;
  operation: Operation;
  /** Tier that the upstream reports; null: the standard one. */
  serviceTier: string | null;
  /** 1 for requests of batches. */
  isBatch: number;
}

/** One request, as versions before 0.2 recorded it. */
interface UsageRecordRow extends RecordedUsage {
  at: number;
  dimensionId: number;
  durationMilliseconds: number;
  outcome: "finished" | "client-left" | "failed";
}

/** All requests of a minute (60), an hour (3600) or a UTC day (86400). */
export interface UsageRollupRow extends RecordedUsage, RecordedDetails {
  bucketSeconds: number;
  beginsAt: number;
  dimensionId: number;
  requests: number;
}

/** What requests belong to, in addition to their key. Sums refer to it by number. */
export interface UsageLabelRow {
  /** The first 53 bits of the hash of the other columns. */
  id: number;
  organizationId: string;
  projectId: string;
  kind: "end_user" | "tag" | "tool" | "prompt";
  value: string;
}

/** Requests with a label in an hour (3600) or a UTC day (86400). A request with several labels is in the sum of each. */
interface UsageLabelRollupRow extends UsageRollupRow {
  labelId: number;
}

/** Last batch of each process, so that a repeated batch counts once. */
interface UsageWriterRow {
  id: string;
  lastBatch: number;
  writtenAt: number;
}

interface ReplicaCountRow {
  singleton: 1;
  replicas: number;
}
