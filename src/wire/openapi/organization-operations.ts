/** What the routes of the administration API take and answer. */

import * as keys from "../openai/organization/organization-api-keys.ts";
import { AuditLogListQuery } from "../openai/organization/organization-audit-logs.ts";
import { ModelPermissionsBody } from "../openai/organization/organization-model-permissions.ts";
import { ModerationPolicyBody } from "../openai/organization/organization-moderation-policy.ts";
import {
  ProjectCreateBody,
  ProjectListQuery,
  ProjectUpdateBody,
} from "../openai/organization/organization-projects.ts";
import { RateLimitBody, RateLimitListQuery } from "../openai/organization/organization-rate-limits.ts";
import { RequestHistogramQuery, RequestListQuery } from "../openai/organization/organization-requests.ts";
import * as accounts from "../openai/organization/organization-service-accounts.ts";
import { SpendLimitBody } from "../openai/organization/organization-spend-limits.ts";
import { CostsQuery, UsageQuery } from "../openai/organization/organization-usage.ts";
import type { Operation } from "./operation.ts";
import * as answers from "./organization-answers.ts";
import { SignInCode } from "./service-answers.ts";
import * as usageAnswers from "./usage-answers.ts";

const of = (operation: Omit<Operation, "errors">): Operation => ({ ...operation, errors: "administration" });

const PROJECT = "/v1/organization/projects/{project}";
const ACCOUNT = `${PROJECT}/service_accounts/{account}`;
const KEY = `${PROJECT}/api_keys/{key}`;
const ADMIN_KEY = "/v1/organization/admin_api_keys/{key}";
const MODEL = "/v1/organization/models/{id}";

export const ORGANIZATION_OPERATIONS: Readonly<Record<string, Operation>> = {
  "POST /v1/organization/projects": of({ body: ProjectCreateBody, answer: answers.Project }),
  "GET /v1/organization/projects": of({ query: ProjectListQuery, answer: answers.ProjectList }),
  [`GET ${PROJECT}`]: of({ answer: answers.Project }),
  [`POST ${PROJECT}`]: of({ body: ProjectUpdateBody, answer: answers.Project }),
  [`POST ${PROJECT}/archive`]: of({ answer: answers.Project }),

  [`POST ${PROJECT}/service_accounts`]: of({
    body: accounts.ServiceAccountCreateBody,
    answer: answers.CreatedServiceAccount,
  }),
  [`GET ${PROJECT}/service_accounts`]: of({
    query: accounts.ServiceAccountListQuery,
    answer: answers.ServiceAccountList,
  }),
  [`GET ${ACCOUNT}`]: of({ answer: answers.ServiceAccount }),
  [`POST ${ACCOUNT}`]: of({ body: accounts.ServiceAccountUpdateBody, answer: answers.ServiceAccount }),
  [`DELETE ${ACCOUNT}`]: of({ answer: answers.deleted("organization.project.service_account.deleted") }),
  [`POST ${ACCOUNT}/api_keys`]: of({
    body: keys.ServiceAccountKeyCreateBody,
    isBodyOptional: true,
    answer: answers.CreatedKey,
  }),
  [`GET ${ACCOUNT}/api_keys`]: of({ query: keys.ServiceAccountKeyListQuery, answer: answers.ProjectApiKeyList }),

  [`GET ${PROJECT}/api_keys`]: of({ query: keys.ProjectApiKeyListQuery, answer: answers.ProjectApiKeyList }),
  [`GET ${KEY}`]: of({ answer: answers.ProjectApiKey }),
  [`POST ${KEY}`]: of({ body: keys.ProjectApiKeyUpdateBody, answer: answers.ProjectApiKey }),
  [`DELETE ${KEY}`]: of({ answer: answers.deleted("organization.project.api_key.deleted") }),

  "POST /v1/organization/admin_api_keys": of({
    body: keys.AdminApiKeyCreateBody,
    answer: answers.CreatedAdminApiKey,
  }),
  "GET /v1/organization/admin_api_keys": of({ query: keys.AdminApiKeyListQuery, answer: answers.AdminApiKeyList }),
  [`GET ${ADMIN_KEY}`]: of({ answer: answers.AdminApiKey }),
  [`DELETE ${ADMIN_KEY}`]: of({ answer: answers.deleted("organization.admin_api_key.deleted") }),

  ...spendLimitOf("/v1/organization", "organization"),
  ...spendLimitOf(PROJECT, "project"),
  ...spendLimitOf(KEY, "api_key"),
  ...modelPermissionsOf("/v1/organization", "organization"),
  ...modelPermissionsOf(PROJECT, "project"),

  [`GET ${PROJECT}/moderation_policy`]: of({ answer: answers.ModerationPolicy }),
  [`POST ${PROJECT}/moderation_policy`]: of({ body: ModerationPolicyBody, answer: answers.ModerationPolicy }),
  [`DELETE ${PROJECT}/moderation_policy`]: of({ answer: answers.removed("project.moderation_policy.deleted") }),

  [`GET ${PROJECT}/rate_limits`]: of({ query: RateLimitListQuery, answer: answers.RateLimitList }),
  [`POST ${PROJECT}/rate_limits/{limit}`]: of({ body: RateLimitBody, answer: answers.RateLimit }),

  [`POST ${MODEL}/load`]: of({ answer: answers.ModelStatus }),
  [`POST ${MODEL}/unload`]: of({ answer: answers.ModelStatus }),
  [`POST ${MODEL}/pull`]: of({ content: ["text/event-stream"] }),
  [`DELETE ${MODEL}`]: of({ answer: answers.deleted("organization.model.deleted") }),

  "GET /v1/organization/audit_logs": of({ query: AuditLogListQuery, answer: answers.AuditLogList }),
  "GET /v1/organization/requests": of({
    query: RequestListQuery,
    answer: usageAnswers.RequestPage,
    content: ["text/event-stream"],
  }),
  "GET /v1/organization/requests/histogram": of({
    query: RequestHistogramQuery,
    answer: usageAnswers.RequestHistogram,
  }),
  "GET /v1/organization/requests/{id}": of({ answer: usageAnswers.RequestDetails }),
  "GET /v1/organization/overview": of({ answer: usageAnswers.Overview }),
  "GET /v1/organization/configuration": of({ answer: answers.Configuration }),
  "POST /v1/organization/console_sign_in_codes": of({ answer: SignInCode }),
  "GET /v1/organization/costs": of({ query: CostsQuery, answer: usageAnswers.CostsPage }),
  ...Object.fromEntries(
    ["completions", "embeddings", "moderations", "audio_speeches", "audio_transcriptions"].map((kind) => [
      `GET /v1/organization/usage/${kind}`,
      of({ query: UsageQuery, answer: usageAnswers.usagePage(kind) }),
    ]),
  ),
};

function spendLimitOf(path: string, owner: "organization" | "project" | "api_key") {
  return {
    [`GET ${path}/spend_limit`]: of({ answer: answers.spendLimit(owner) }),
    [`POST ${path}/spend_limit`]: of({ body: SpendLimitBody, answer: answers.spendLimit(owner) }),
    [`DELETE ${path}/spend_limit`]: of({ answer: answers.removed(`${owner}.spend_limit.deleted`) }),
  };
}

function modelPermissionsOf(path: string, owner: "organization" | "project") {
  return {
    [`GET ${path}/model_permissions`]: of({ answer: answers.modelPermissions(owner) }),
    [`POST ${path}/model_permissions`]: of({ body: ModelPermissionsBody, answer: answers.modelPermissions(owner) }),
    [`DELETE ${path}/model_permissions`]: of({ answer: answers.removed(`${owner}.model_permissions.deleted`) }),
  };
}
