import type { FastifyPluginAsync } from "fastify";
import { operation } from "../../http/operation.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import {
  ModerationPolicyBody,
  toModerationPolicy,
  toModerationPolicyDeleted,
} from "../../wire/openai/organization/organization-moderation-policy.ts";
import { parse } from "../../wire/openai/validate.ts";
import { ModerationPolicy, removed } from "../../wire/openapi/organization-answers.ts";
import { type Accounts, actorOf, projectOf } from "../accounts/index.ts";
import { ModerationPolicyService } from "./moderation-policy-service.ts";

/** True for the ID or alias of a moderation model. */
export type IsModerationModel = (id: string) => boolean;

interface OfProject {
  Params: { project: string };
}

const PATH = "/projects/:project/moderation_policy";

/** /v1/organization/projects/{project}/moderation_policy */
export function moderationPolicy(accounts: Accounts, isModerationModel: IsModerationModel): FastifyPluginAsync {
  const policies = new ModerationPolicyService(accounts.transactions);
  const checkModel = (param: string, model: string | undefined) => {
    if (model === undefined || isModerationModel(model)) return;
    const message = `Invalid value for '${param}': ${JSON.stringify(model)} is not a moderation model.`;
    throw invalidRequest(message, param, "invalid_value");
  };
  return async (app) => {
    app.get<OfProject>(
      PATH,
      operation({
        summary: "Retrieves how the chats of a project are moderated. Not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: "project.read",
        answer: ModerationPolicy,
      }),
      async (request) => toModerationPolicy(await policies.retrieve(projectOf(request))),
    );

    app.post<OfProject>(
      PATH,
      operation({
        summary: "Sets how the chats of a project are moderated. Not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: "project.limits.write",
        body: ModerationPolicyBody,
        answer: ModerationPolicy,
      }),
      async (request) => {
        const { model, input, output, unsupportedLanguage } = parse(ModerationPolicyBody, request.body);
        checkModel("model", model);
        checkModel("unsupported_language.model", unsupportedLanguage?.model ?? undefined);
        const change = { model: model ?? null, input: input ?? null, output: output ?? null, unsupportedLanguage };
        return toModerationPolicy(await policies.replace(actorOf(request), projectOf(request), change));
      },
    );

    app.delete<OfProject>(
      PATH,
      operation({
        summary: "Removes a project's moderation policy. Not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: "project.limits.write",
        answer: removed("project.moderation_policy.deleted"),
      }),
      async (request) => {
        return toModerationPolicyDeleted(await policies.remove(actorOf(request), projectOf(request)));
      },
    );
  };
}
