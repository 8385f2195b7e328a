import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { onDisconnect } from "../../../http/on-disconnect.ts";
import { operation, routes } from "../../../http/operation.ts";
import { projectOf } from "../../../http/project-of.ts";
import { pageOfRows } from "../../../storage/page.ts";
import { toListBody } from "../../../wire/openai/organization/organization-list.ts";
import {
  ProjectWebhookEndpoint,
  ProjectWebhookEndpointList,
  ProjectWebhookEndpointWithSecret,
  ProjectWebhookEventTypes,
  toWebhookEndpoint,
  WebhookEndpointCreateBody,
  WebhookEndpointListQuery,
  WebhookEndpointTestBody,
  WebhookEndpointTestResult,
  WebhookEndpointUpdateBody,
  WebhookSecretRotationBody,
} from "../../../wire/openai/webhook-endpoints.ts";
import { deleted } from "../../../wire/openapi/list-answers.ts";
import { type Accounts, projectAuthorOf } from "../../accounts/index.ts";
import type { WebhookOutbox } from "../webhook-outbox.ts";
import { configuredEndpoints, lockedEndpoint } from "./configured-endpoints.ts";
import type { EndpointTest } from "./endpoint-test.ts";
import type { EndpointWithSecret, ProjectEndpoints, ShownEndpoint } from "./project-endpoints.ts";
import { PROJECT_EVENT_TYPES } from "./project-events.ts";

interface OfEndpoint {
  Params: { endpoint: string };
}

interface EndpointParts {
  accounts: Accounts;
  endpoints: ProjectEndpoints;
  outbox: WebhookOutbox;
  test: EndpointTest;
}

const READ = { tag: "Webhooks", permission: "project" } as const;
const WRITE = { ...READ, requires: "project.webhooks.write" } as const;

/** /v1/webhook_endpoints, /v1/webhook_event_types */
export function webhookEndpointRoutes({ accounts, endpoints, outbox, test }: EndpointParts): FastifyPluginAsync {
  /** Endpoints of the configuration, which belong to the default organization. */
  const configuredFor = async ({ caller }: FastifyRequest): Promise<ShownEndpoint[]> =>
    (await accounts.organizations.isDefault(caller.organizationId)) ? configuredEndpoints(outbox.endpoints) : [];
  /** Throws a Fault for an endpoint of the configuration. */
  const resourceOf = async (request: FastifyRequest<OfEndpoint>) => {
    const { endpoint: id } = request.params;
    if ((await configuredFor(request)).some((each) => each.id === id)) throw lockedEndpoint();
    return { projectId: projectOf(request), id };
  };
  return routes(
    operation(
      "GET /webhook_endpoints",
      {
        ...READ,
        summary:
          "Lists the webhook endpoints of the project, newest first; in the default organization also those of the configuration, which cannot be changed here.",
        query: WebhookEndpointListQuery,
        answer: ProjectWebhookEndpointList,
      },
      async ({ query, request }) => {
        const all = [...(await endpoints.list(projectOf(request))), ...(await configuredFor(request))];
        return toListBody(pageOfRows(all, query), toWebhookEndpoint);
      },
    ),
    operation(
      "POST /webhook_endpoints",
      {
        ...WRITE,
        grants: "credential",
        summary:
          "Creates a webhook endpoint, which gets events of the project. The answer alone has its signing secret.",
        body: WebhookEndpointCreateBody,
        answer: ProjectWebhookEndpointWithSecret,
      },
      async ({ body: { name, url, event_types: events }, request }) =>
        withSecret(await endpoints.create(projectAuthorOf(request), projectOf(request), { name, url, events })),
    ),
    operation(
      "GET /webhook_endpoints/:endpoint",
      { ...READ, summary: "Retrieves a webhook endpoint.", answer: ProjectWebhookEndpoint },
      async ({ params, request }) => {
        const configured = (await configuredFor(request)).find(({ id }) => id === params.endpoint);
        const resource = { projectId: projectOf(request), id: params.endpoint };
        return toWebhookEndpoint(configured ?? (await endpoints.find(resource)));
      },
    ),
    operation(
      "POST /webhook_endpoints/:endpoint",
      {
        ...WRITE,
        summary: "Changes the name, URL or events of a webhook endpoint.",
        body: WebhookEndpointUpdateBody,
        isBodyOptional: true,
        answer: ProjectWebhookEndpoint,
      },
      async ({ body: { name, url, event_types: events }, request }) => {
        const resource = await resourceOf(request);
        return toWebhookEndpoint(await endpoints.update(projectAuthorOf(request), resource, { name, url, events }));
      },
    ),
    operation(
      "DELETE /webhook_endpoints/:endpoint",
      {
        ...WRITE,
        summary: "Deletes a webhook endpoint; events that it has not accepted yet are not sent.",
        answer: deleted("webhook_endpoint.deleted"),
      },
      async ({ request }) => {
        const resource = await resourceOf(request);
        await endpoints.delete(projectAuthorOf(request), resource);
        return { id: resource.id, object: "webhook_endpoint.deleted" as const, deleted: true };
      },
    ),
    operation(
      "POST /webhook_endpoints/:endpoint/rotate_secret",
      {
        ...WRITE,
        grants: "credential",
        summary: "Replaces the signing secret of a webhook endpoint, at once or with 24 hours for both.",
        body: WebhookSecretRotationBody,
        isBodyOptional: true,
        answer: ProjectWebhookEndpointWithSecret,
      },
      async ({ body: { keep_old_secret_active_for_24_hours: keepsFormer }, request }) => {
        const resource = await resourceOf(request);
        return withSecret(await endpoints.rotate(projectAuthorOf(request), resource, { keepsFormer }));
      },
    ),
    operation(
      "POST /webhook_endpoints/:endpoint/test",
      {
        ...WRITE,
        summary: "Sends a sample event to a webhook endpoint, and answers with the status that it returned.",
        body: WebhookEndpointTestBody,
        answer: WebhookEndpointTestResult,
      },
      async ({ body: { event_type }, request, reply }) => {
        const row = await endpoints.row(await resourceOf(request));
        const leaving = new AbortController();
        onDisconnect(reply)(() => leaving.abort());
        const status_code = await test.send(row, event_type, leaving.signal);
        const { id: webhook_endpoint_id } = row;
        return {
          object: "webhook_endpoint.test" as const,
          webhook_endpoint_id,
          event_type,
          status_code,
          success: true as const,
        };
      },
    ),
    operation(
      "GET /webhook_event_types",
      {
        ...READ,
        summary: "Lists the types of events that webhook endpoints of projects can get.",
        answer: ProjectWebhookEventTypes,
      },
      async () => ({ object: "list" as const, data: [...PROJECT_EVENT_TYPES] }),
    ),
  );
}

function withSecret({ endpoint, secret }: EndpointWithSecret) {
  return { ...toWebhookEndpoint(endpoint), signing_secret: secret.reveal() };
}
