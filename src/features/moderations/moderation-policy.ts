/** The moderation policy of a project, which applies to all its chats. */

import type { FastifyPluginAsync } from "fastify";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import type { Executor } from "../../storage/database.ts";
import {
  ModerationPolicyBody,
  toModerationPolicy,
  toModerationPolicyDeleted,
} from "../../wire/openai/organization/organization-moderation-policy.ts";
import { removed } from "../../wire/openapi/list-answers.ts";
import { ModerationPolicy } from "../../wire/openapi/project-policy-answers.ts";
import { type Accounts, projectKeyPolicy, projectPolicyRoutes, putProjectRow } from "../accounts/index.ts";
import type { ModerationPolicyRow } from "./policy-rows.ts";

declare module "../accounts/keys/key-policy.ts" {
  interface KeyPolicies {
    /** Moderation policy of the project, if it has one. */
    moderation: ProjectModeration | undefined;
  }
}

export interface ProjectModeration {
  /** A catalog ID or an alias. Null: the first moderation model that the caller may use. */
  model: string | null;
  /** Null: only as the request asks. */
  input: "score" | "block" | null;
  output: "score" | "block" | null;
  /** For text in a language that the model does not know. Null: `pass`. */
  unsupportedLanguage: UnsupportedLanguage | null;
}

interface UnsupportedLanguage {
  action: "pass" | "refuse" | "model";
  /** With `model`: the catalog ID or alias of the model that moderates it instead. */
  model: string | null;
}

/** True for the ID or alias of a moderation model. */
type IsModerationModel = (id: string) => boolean;

export const moderationKeyPolicy = projectKeyPolicy<ModerationPolicyRow, ProjectModeration | undefined>(
  undefined,
  findModerationPoliciesOf,
  ([row]) => row && toProjectModeration(row),
);

/** /v1/organization/projects/{project}/moderation_policy */
export function moderationPolicy(
  { transactions }: Pick<Accounts, "transactions">,
  isModerationModel: IsModerationModel,
): FastifyPluginAsync {
  const checkModel = (param: string, model: string | null | undefined) => {
    if (model == null || isModerationModel(model)) return;
    const message = `Invalid value for '${param}': ${JSON.stringify(model)} is not a moderation model.`;
    throw invalidRequest(message, param, "invalid_value");
  };
  return projectPolicyRoutes(transactions, {
    path: "moderation_policy",
    summaries: {
      retrieve: "Retrieves how the chats of a project are moderated. Not in OpenAI's API.",
      replace: "Sets how the chats of a project are moderated. Not in OpenAI's API.",
      remove: "Removes a project's moderation policy. Not in OpenAI's API.",
    },
    body: ModerationPolicyBody,
    answer: ModerationPolicy,
    find: async (executor, { id }) => {
      const [row] = await findModerationPoliciesOf(executor, [id]);
      if (row === undefined) throw new Fault("not-found", "There is no moderation policy.");
      return toProjectModeration(row);
    },
    toValue: ({ model, input, output, unsupportedLanguage }): ProjectModeration => {
      checkModel("model", model);
      checkModel("unsupported_language.model", unsupportedLanguage?.model);
      return { model: model ?? null, input: input ?? null, output: output ?? null, unsupportedLanguage };
    },
    put: ({ executor, now }, { id }, policy) => putModerationPolicy(executor, id, policy, now),
    details: (policy) => {
      if (policy === null) return { moderationPolicy: null };
      const { unsupportedLanguage, ...others } = policy;
      return { moderationPolicy: { ...others, ...(unsupportedLanguage !== null && { unsupportedLanguage }) } };
    },
    toAnswer: toModerationPolicy,
    removal: {
      answer: removed("project.moderation_policy.deleted"),
      remove: (executor, { id }) => deleteModerationPolicy(executor, id),
      toAnswer: toModerationPolicyDeleted,
    },
  });
}

export async function findModerationPoliciesOf(
  executor: Executor,
  projectIds: readonly string[],
): Promise<ModerationPolicyRow[]> {
  if (projectIds.length === 0) return [];
  return executor.selectFrom("moderationPolicies").selectAll().where("projectId", "in", projectIds).execute();
}

export async function putModerationPolicy(
  executor: Executor,
  projectId: string,
  { model, input, output, unsupportedLanguage }: ProjectModeration,
  updatedAt: number,
): Promise<void> {
  const row: ModerationPolicyRow = {
    projectId,
    model,
    inputMode: input,
    outputMode: output,
    unsupportedLanguage: unsupportedLanguage?.action ?? null,
    unsupportedLanguageModel: unsupportedLanguage?.model ?? null,
    updatedAt,
  };
  await putProjectRow(executor, "moderationPolicies", row);
}

/** Returns false when there was none. */
export async function deleteModerationPolicy(executor: Executor, projectId: string): Promise<boolean> {
  const result = await executor.deleteFrom("moderationPolicies").where("projectId", "=", projectId).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

export function toProjectModeration(row: ModerationPolicyRow): ProjectModeration {
  const { model, inputMode, outputMode, unsupportedLanguage, unsupportedLanguageModel } = row;
  return {
    model,
    input: inputMode,
    output: outputMode,
    unsupportedLanguage:
      unsupportedLanguage === null ? null : { action: unsupportedLanguage, model: unsupportedLanguageModel },
  };
}
