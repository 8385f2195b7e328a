/**
 * Tables of both databases: text, integers, encrypted bytes, and times in epoch milliseconds. Their columns have snake_case names, which
 * a plugin of Kysely translates. A time that is null has not happened.
 */

import type {
  AccountChangesRow,
  ApiKeyRow,
  AuditLogRow,
  ModelPermissionsRow,
  OrganizationRow,
  ProjectRow,
  ServiceAccountRow,
} from "../features/accounts/account-rows.ts";
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
import type { ConsoleGrantRow } from "../features/console/console-grant-rows.ts";
import type { EvalItemRow, EvalRow, EvalRunRow } from "../features/evals/eval-rows.ts";
import type { FileRow } from "../features/files/file-rows.ts";
import type { ProjectGuardrailsRow } from "../features/guardrails/guardrail-rows.ts";
import type { MailDeliveryRow } from "../features/mail/mail-rows.ts";
import type { McpCallRow } from "../features/mcp/mcp-call-rows.ts";
import type { McpGrantRow, McpRevocationRow } from "../features/mcp/mcp-grant-rows.ts";
import type { McpMessageRow } from "../features/mcp/mcp-rows.ts";
import type { ModerationPolicyRow } from "../features/moderations/policy-rows.ts";
import type { PromptLabelRow, PromptRow, PromptVersionRow } from "../features/prompts/prompt-rows.ts";
import type { RateLimitRow, SpendLimitRow } from "../features/quota/limit-rows.ts";
import type { ClientSecretRow } from "../features/realtime/client-secret-rows.ts";
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
  UsageDimensionRow,
  UsageLabelRollupRow,
  UsageLabelRow,
  UsageRecordRow,
  UsageRollupRow,
  UsageWriterRow,
} from "../features/usage/usage-rows.ts";
import type {
  VectorStoreBatchRow,
  VectorStoreFileRow,
  VectorStoreRow,
  VectorStoreSegmentRow,
} from "../features/vector-stores/vector-store-rows.ts";
import type { DeploymentOutageRow, WebhookDeliveryRow, WebhookLogRow } from "../features/webhooks/webhook-rows.ts";

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
  mcpRevocations: McpRevocationRow;
  uploads: UploadRow;
  uploadParts: UploadPartRow;
  vectorStores: VectorStoreRow;
  vectorStoreFiles: VectorStoreFileRow;
  vectorStoreBatches: VectorStoreBatchRow;
  vectorStoreSegments: VectorStoreSegmentRow;
}

interface ModelSightingRow {
  modelId: string;
  firstSeenAt: number;
}

interface ReplicaCountRow {
  singleton: 1;
  replicas: number;
}
