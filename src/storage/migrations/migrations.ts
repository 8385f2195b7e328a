/** Every migration, in the order of its name. One that was released is never edited: a change is a new one. */

import { accounts } from "./0001-accounts.ts";
import { modelFirstSeen } from "./0002-model-sightings.ts";
import { usage } from "./0003-usage.ts";
import { rateLimits } from "./0004-rate-limits.ts";
import { spendLimits } from "./0005-spend-limits.ts";
import { moderationPolicies } from "./0006-moderation-policies.ts";
import { spendLimitsBegun } from "./0007-spend-limits-begun.ts";
import { consoleSessions } from "./0008-console-sessions.ts";
import { storedResponses } from "./0009-stored-responses.ts";
import { requestHistory } from "./0010-request-history.ts";
import { replicaCount } from "./0011-replica-count.ts";
import { requestDimensions } from "./0012-request-dimensions.ts";
import { files } from "./0013-files.ts";
import { schemaCompatibility } from "./0014-schema-compatibility.ts";
import { batches } from "./0015-batches.ts";
import { clientSecrets } from "./0016-client-secrets.ts";
import { webhooks } from "./0017-webhooks.ts";
import { moderationLanguages } from "./0018-moderation-languages.ts";
import { requestDetails } from "./0019-request-details.ts";
import { people } from "./0020-people.ts";
import { cachedAnswers } from "./0021-cached-answers.ts";
import { signOn } from "./0022-sign-on.ts";
import { usageLabels } from "./0023-usage-labels.ts";
import { batchLeases } from "./0024-batch-leases.ts";
import { guardrails } from "./0025-guardrails.ts";
import { keyUseAndProvisioning } from "./0026-key-use-and-provisioning.ts";
import { authors } from "./0027-authors.ts";
import { provisioning } from "./0028-provisioning.ts";
import { configuration } from "./0029-configuration.ts";
import { prompts } from "./0030-prompts.ts";
import { budgets } from "./0031-budgets.ts";
import { recordedContent } from "./0032-recorded-content.ts";
import { vectorStores } from "./0033-vector-stores.ts";
import { evals } from "./0034-evals.ts";
import { storedBytes } from "./0035-stored-bytes.ts";
import { evalSources } from "./0036-eval-sources.ts";
import { images } from "./0037-images.ts";
import { webhookLog } from "./0038-webhook-log.ts";
import { savedChats } from "./0039-saved-chats.ts";
import { mcpCalls } from "./0040-mcp-calls.ts";
import { mcpMessages } from "./0041-mcp-messages.ts";
import { evalTotals } from "./0042-eval-totals.ts";
import { mcpGrants } from "./0043-mcp-grants.ts";
import { mcpRevocations } from "./0044-mcp-revocations.ts";
import { providerGroups } from "./0045-provider-groups.ts";
import { evalStarts } from "./0046-eval-starts.ts";
import { sessionIssueTimes } from "./0047-session-issue-times.ts";
import { requestHistoryId } from "./0048-request-history-id.ts";
import { keyLines } from "./0049-key-lines.ts";
import { idempotentRequests } from "./0050-idempotent-requests.ts";
import { batchUsage } from "./0051-batch-usage.ts";
import { imageDimensions } from "./0052-image-dimensions.ts";
import { passwordLinkAuthors } from "./0053-password-link-authors.ts";
import { sharedChats } from "./0054-shared-chats.ts";
import { unansweredLines } from "./0055-unanswered-lines.ts";
import { batchInputs } from "./0056-batch-inputs.ts";
import { webhookEndpoints } from "./0057-webhook-endpoints.ts";
import { webhookBacklogs } from "./0058-webhook-backlogs.ts";
import { storedPolicies } from "./0059-stored-policies.ts";
import { skills } from "./0060-skills.ts";
import { scimDisabling } from "./0061-scim-disabling.ts";
import { projectsOfArchivedOrganizations } from "./0062-projects-of-archived-organizations.ts";
import type { SchemaMigration } from "./schema-migration.ts";

export const MIGRATIONS: Readonly<Record<string, SchemaMigration>> = {
  "0001-accounts": accounts,
  "0002-model-sightings": modelFirstSeen,
  "0003-usage": usage,
  "0004-rate-limits": rateLimits,
  "0005-spend-limits": spendLimits,
  "0006-moderation-policies": moderationPolicies,
  "0007-spend-limits-begun": spendLimitsBegun,
  "0008-console-sessions": consoleSessions,
  "0009-stored-responses": storedResponses,
  "0010-request-history": requestHistory,
  "0011-replica-count": replicaCount,
  "0012-request-dimensions": requestDimensions,
  "0013-files": files,
  "0014-schema-compatibility": schemaCompatibility,
  "0015-batches": batches,
  "0016-client-secrets": clientSecrets,
  "0017-webhooks": webhooks,
  "0018-moderation-languages": moderationLanguages,
  "0019-request-details": requestDetails,
  "0020-people": people,
  "0021-cached-answers": cachedAnswers,
  "0022-sign-on": signOn,
  "0023-usage-labels": usageLabels,
  "0024-batch-leases": batchLeases,
  "0025-guardrails": guardrails,
  "0026-key-use-and-provisioning": keyUseAndProvisioning,
  "0027-authors": authors,
  "0028-provisioning": provisioning,
  "0029-configuration": configuration,
  "0030-prompts": prompts,
  "0031-budgets": budgets,
  "0032-recorded-content": recordedContent,
  "0033-vector-stores": vectorStores,
  "0034-evals": evals,
  "0035-stored-bytes": storedBytes,
  "0036-eval-sources": evalSources,
  "0037-images": images,
  "0038-webhook-log": webhookLog,
  "0039-saved-chats": savedChats,
  "0040-mcp-calls": mcpCalls,
  "0041-mcp-messages": mcpMessages,
  "0042-eval-totals": evalTotals,
  "0043-mcp-grants": mcpGrants,
  "0044-mcp-revocations": mcpRevocations,
  "0045-provider-groups": providerGroups,
  "0046-eval-starts": evalStarts,
  "0047-session-issue-times": sessionIssueTimes,
  "0048-request-history-id": requestHistoryId,
  "0049-key-lines": keyLines,
  "0050-idempotent-requests": idempotentRequests,
  "0051-batch-usage": batchUsage,
  "0052-image-dimensions": imageDimensions,
  "0053-password-link-authors": passwordLinkAuthors,
  "0054-shared-chats": sharedChats,
  "0055-unanswered-lines": unansweredLines,
  "0056-batch-inputs": batchInputs,
  "0057-webhook-endpoints": webhookEndpoints,
  "0058-webhook-backlogs": webhookBacklogs,
  "0059-stored-policies": storedPolicies,
  "0060-skills": skills,
  "0061-scim-disabling": scimDisabling,
  "0062-projects-of-archived-organizations": projectsOfArchivedOrganizations,
};
