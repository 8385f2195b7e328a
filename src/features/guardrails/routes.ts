import type { FastifyPluginAsync } from "fastify";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Guardrail } from "../../contracts/guardrail.ts";
import type { Task } from "../../contracts/task.ts";
import { operation } from "../../http/operation.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { GuardrailsBody, toProjectGuardrails } from "../../wire/openai/organization/organization-guardrails.ts";
import { parse } from "../../wire/openai/validate.ts";
import { ProjectGuardrails } from "../../wire/openapi/organization-answers.ts";
import { type Accounts, actorOf, projectOf } from "../accounts/index.ts";
import { GuardrailPolicyService } from "./guardrail-policy-service.ts";
import type { GuardrailServiceSettings } from "./settings.ts";
import type { WrittenGuardrail } from "./stored-guardrails.ts";

interface OfProject {
  Params: { project: string };
}

const PATH = "/projects/:project/guardrails";

/** /v1/organization/projects/{project}/guardrails */
export function projectGuardrails(
  accounts: Accounts,
  catalog: Catalog,
  services: GuardrailServiceSettings,
): FastifyPluginAsync {
  const policies = new GuardrailPolicyService(accounts.transactions);
  return async (app) => {
    app.get<OfProject>(
      PATH,
      operation({
        summary: "Retrieves the guardrails of a project, its moderation policy included. Not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: "project.read",
        answer: ProjectGuardrails,
      }),
      async (request) => toProjectGuardrails(await policies.retrieve(projectOf(request))),
    );

    app.post<OfProject>(
      PATH,
      operation({
        summary: "Sets the guardrails of a project, its moderation policy included. Not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: "project.limits.write",
        body: GuardrailsBody,
        answer: ProjectGuardrails,
      }),
      async (request) => {
        const { guardrails } = parse(GuardrailsBody, request.body);
        for (const [index, guardrail] of guardrails.entries()) {
          checkReferences(guardrail, `guardrails[${index}]`, catalog, services);
        }
        const { guardrails: written } = request.body as { guardrails: readonly WrittenGuardrail[] };
        await policies.replace(actorOf(request), projectOf(request), written);
        return toProjectGuardrails(await policies.retrieve(projectOf(request)));
      },
    );
  };
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
