import type { FastifyPluginAsync } from "fastify";
import { sql } from "kysely";
import type { Executor } from "../../../storage/database.ts";
import {
  KeyRulesBody,
  toKeyRules,
  toKeyRulesDeleted,
} from "../../../wire/openai/organization/organization-key-rules.ts";
import { removed } from "../../../wire/openapi/list-answers.ts";
import { KeyRules as KeyRulesAnswer } from "../../../wire/openapi/project-policy-answers.ts";
import type { Accounts } from "../accounts.ts";
import { projectPolicyRoutes } from "../policies/project-policy.ts";
import { type ResolveModel, resolveAll } from "../projects/model-permission-routes.ts";
import { type KeyRules, NO_KEY_RULES, readKeyRules } from "./key-rules.ts";

/** /v1/organization/projects/{project}/key_rules. Keys that live longer than allowed expire earlier from then on. */
export function keyRules({ transactions }: Pick<Accounts, "transactions">, resolve: ResolveModel): FastifyPluginAsync {
  return projectPolicyRoutes(transactions, {
    path: "key_rules",
    summaries: {
      retrieve: "Retrieves what keys of users must keep in a project. Not in OpenAI's API.",
      replace:
        "Sets what keys of users must keep in a project: their number, lifetime, models and spend. Existing keys expire accordingly. Not in OpenAI's API.",
      remove: "Removes what keys of users must keep in a project. Not in OpenAI's API.",
    },
    reads: ["project.read", "project.own_keys.write"],
    body: KeyRulesBody,
    answer: KeyRulesAnswer,
    find: async (_executor, project) => readKeyRules(project.keyRules) ?? NO_KEY_RULES,
    toValue: (body): KeyRules => ({
      maxKeysPerUser: body.max_keys_per_user ?? null,
      maxLifetimeSeconds: body.max_lifetime_seconds ?? null,
      modelIds: body.model_ids == null ? null : [...new Set(resolveAll(body.model_ids, resolve))],
      spendLimitCents: body.max_spend_cents_per_month ?? null,
    }),
    put: async ({ executor, now }, project, rules) => {
      // The count of a spend limit that only changes goes on.
      const begunAt = readKeyRules(project.keyRules)?.begunAt ?? now;
      await putKeyRules(executor, project.id, JSON.stringify({ ...rules, begunAt }));
      if (rules.maxLifetimeSeconds !== null) await shortenLifetimes(executor, project.id, rules.maxLifetimeSeconds);
    },
    details: (rules) => ({ keyRules: rules }),
    toAnswer: toKeyRules,
    removal: {
      answer: removed("project.key_rules.deleted"),
      remove: async (executor, project) => {
        if (readKeyRules(project.keyRules) === undefined) return false;
        await putKeyRules(executor, project.id, null);
        return true;
      },
      toAnswer: toKeyRulesDeleted,
    },
  });
}

async function putKeyRules(executor: Executor, projectId: string, keyRules: string | null): Promise<void> {
  await executor.updateTable("projects").set({ keyRules }).where("id", "=", projectId).execute();
}

/** Keys of sign-on, whose hash is not of a secret, end with their sessions instead. */
async function shortenLifetimes(executor: Executor, projectId: string, seconds: number): Promise<void> {
  const latest = sql<number>`created_at + ${seconds * 1000}`;
  await executor
    .updateTable("apiKeys")
    .set({ expiresAt: latest })
    .where("projectId", "=", projectId)
    .where("userId", "is not", null)
    .where("revokedAt", "is", null)
    .where("keyHash", "not like", "% %")
    .where((where) => where.or([where("expiresAt", "is", null), where("expiresAt", ">", latest)]))
    .execute();
}
