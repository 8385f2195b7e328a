import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation } from "../../../http/operation.ts";
import {
  KeyRulesBody,
  toKeyRules,
  toKeyRulesDeleted,
} from "../../../wire/openai/organization/organization-key-rules.ts";
import { parse } from "../../../wire/openai/validate.ts";
import { KeyRules, removed } from "../../../wire/openapi/organization-answers.ts";
import type { Accounts } from "../accounts.ts";
import { actorOf } from "../audit/actor.ts";
import { type ResolveModel, resolveAll } from "../projects/model-permission-routes.ts";

interface OfProject {
  Params: { project: string };
}

const PATH = "/projects/:project/key_rules";

/** /v1/organization/projects/{project}/key_rules */
export function keyRules(accounts: Accounts, resolve: ResolveModel): FastifyPluginAsync {
  const common = { tag: "Projects", permission: "admin" } as const;
  return async (app) => {
    app.get<OfProject>(
      PATH,
      operation({
        ...common,
        summary: "Retrieves what keys of users must keep in a project. Not in OpenAI's API.",
        requires: ["project.read", "project.own_keys.write"],
        answer: KeyRules,
      }),
      async (request) => toKeyRules(await accounts.keyRules.retrieve(projectOf(request))),
    );

    app.post<OfProject>(
      PATH,
      operation({
        ...common,
        summary:
          "Sets what keys of users must keep in a project: their number, lifetime, models and spend. Existing keys expire accordingly. Not in OpenAI's API.",
        requires: "project.limits.write",
        body: KeyRulesBody,
        answer: KeyRules,
      }),
      async (request) => {
        const body = parse(KeyRulesBody, request.body);
        const rules = {
          maxKeysPerUser: body.max_keys_per_user ?? null,
          maxLifetimeSeconds: body.max_lifetime_seconds ?? null,
          modelIds: body.model_ids == null ? null : [...new Set(resolveAll(body.model_ids, resolve))],
          spendLimitCents: body.max_spend_cents_per_month ?? null,
        };
        return toKeyRules(await accounts.keyRules.replace(actorOf(request), projectOf(request), rules));
      },
    );

    app.delete<OfProject>(
      PATH,
      operation({
        ...common,
        summary: "Removes what keys of users must keep in a project. Not in OpenAI's API.",
        requires: "project.limits.write",
        answer: removed("project.key_rules.deleted"),
      }),
      async (request) => toKeyRulesDeleted(await accounts.keyRules.remove(actorOf(request), projectOf(request))),
    );
  };
}

function projectOf(request: FastifyRequest<OfProject>) {
  return { organizationId: request.caller.organizationId, id: request.params.project };
}
