/** Guardrails of projects. A project's moderation policy is one of them. */

import type { FastifyPluginAsync } from "fastify";
import type { Catalog } from "../../catalog/catalog.ts";
import { type Guardrail, guardrailList } from "../../contracts/guardrail.ts";
import type { Task } from "../../contracts/task.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import type { Executor } from "../../storage/database.ts";
import { GuardrailsBody, toProjectGuardrails } from "../../wire/openai/organization/organization-guardrails.ts";
import { ProjectGuardrails } from "../../wire/openapi/project-policy-answers.ts";
import { type Accounts, projectKeyPolicy, projectPolicyRoutes, putProjectRow } from "../accounts/index.ts";
import {
  deleteModerationPolicy,
  findModerationPoliciesOf,
  putModerationPolicy,
  toProjectModeration,
} from "../moderations/index.ts";
import type { ProjectGuardrailsRow } from "./guardrail-rows.ts";
import type { GuardrailServiceSettings } from "./settings.ts";
import { toGuardrails, toModeration, toModerationEntry, type WrittenGuardrail } from "./stored-guardrails.ts";

declare module "../accounts/keys/key-policy.ts" {
  interface KeyPolicies {
    /** Guardrails of the project except for its moderation policy, in order. */
    guardrails: readonly Guardrail[];
  }
}

export const guardrailPolicy = projectKeyPolicy<ProjectGuardrailsRow, readonly Guardrail[]>(
  [],
  findGuardrailsOf,
  (rows) => rows.flatMap(toGuardrails),
);

/** /v1/organization/projects/{project}/guardrails */
export function projectGuardrails(
  { transactions }: Pick<Accounts, "transactions">,
  catalog: Catalog,
  services: GuardrailServiceSettings,
): FastifyPluginAsync {
  return projectPolicyRoutes(transactions, {
    path: "guardrails",
    summaries: {
      retrieve: "Retrieves the guardrails of a project, its moderation policy included. Not in OpenAI's API.",
      replace: "Sets the guardrails of a project, its moderation policy included. Not in OpenAI's API.",
    },
    body: GuardrailsBody,
    answer: ProjectGuardrails,
    /** The list, with the moderation policy last; empty without any. */
    find: async (executor, { id }): Promise<readonly WrittenGuardrail[]> => {
      const [row] = await findGuardrailsOf(executor, [id]);
      const [moderation] = await findModerationPoliciesOf(executor, [id]);
      const others = row === undefined ? [] : (JSON.parse(row.guardrails) as WrittenGuardrail[]);
      return moderation === undefined ? others : [...others, toModerationEntry(toProjectModeration(moderation))];
    },
    toValue: ({ guardrails }, request) => {
      for (const [index, guardrail] of guardrails.entries()) {
        checkReferences(guardrail, `guardrails[${index}]`, catalog, services);
      }
      return (request.body as { guardrails: readonly WrittenGuardrail[] }).guardrails;
    },
    put: async ({ executor, now }, { id: projectId }, list) => {
      const moderation = guardrailList.parse(list).find(({ type }) => type === "moderation");
      const others = list.filter(({ type }) => type !== "moderation");
      const row = { projectId, guardrails: JSON.stringify(others), updatedAt: now };
      if (others.length > 0) await putProjectRow(executor, "projectGuardrails", row);
      else await executor.deleteFrom("projectGuardrails").where("projectId", "=", projectId).execute();
      if (moderation === undefined) await deleteModerationPolicy(executor, projectId);
      else await putModerationPolicy(executor, projectId, toModeration(moderation), now);
    },
    // Lists of words may be long, and may be confidential themselves.
    details: (list) => ({ guardrails: list?.map(({ type, action, on }) => ({ type, action, on })) }),
    toAnswer: toProjectGuardrails,
  });
}

async function findGuardrailsOf(executor: Executor, projectIds: readonly string[]): Promise<ProjectGuardrailsRow[]> {
  if (projectIds.length === 0) return [];
  return executor.selectFrom("projectGuardrails").selectAll().where("projectId", "in", projectIds).execute();
}

/** Throws a Fault for a model or a service that does not exist. */
function checkReferences(
  { type, model, unsupportedLanguage, webhook, engine }: Guardrail,
  path: string,
  catalog: Catalog,
  services: GuardrailServiceSettings,
): void {
  const invalid = (field: string, message: string) =>
    invalidRequest(`Invalid value for '${path}.${field}': ${message}`, `${path}.${field}`, "invalid_value");
  const checkModel = (field: string, id: string | undefined, task: Task) => {
    if (id === undefined || catalog.find(id)?.model.task === task) return;
    throw invalid(field, `${JSON.stringify(id)} is not a ${task} model.`);
  };
  checkModel("model", model, type === "topics" ? "chat" : "moderation");
  checkModel("unsupported_language.model", unsupportedLanguage?.model, "moderation");
  if (webhook !== undefined && services.webhooks.every(({ name }) => name !== webhook)) {
    const names = services.webhooks.map(({ name }) => name).join(", ") || "none is configured";
    throw invalid("webhook", `${JSON.stringify(webhook)} is not in guardrail_services.webhooks: ${names}.`);
  }
  if (engine === "presidio" && services.presidio === undefined) {
    throw invalid("engine", "guardrail_services.presidio is not configured.");
  }
}
