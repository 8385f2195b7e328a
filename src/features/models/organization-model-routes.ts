import { setTimeout as delay } from "node:timers/promises";
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { disconnection } from "../../http/on-disconnect.ts";
import { operation, routes } from "../../http/operation.ts";
import { sendEvents } from "../../http/send-events.ts";
import { whileAllowed } from "../../http/while-allowed.ts";
import { AsyncQueue } from "../../kernel/async/async-queue.ts";
import { Fault } from "../../kernel/faults.ts";
import {
  PullQuery,
  toModelDeleted,
  toModelLibrary,
  toModelStatus,
  toPull,
  toPullFrame,
} from "../../wire/openai/organization/organization-models.ts";
import { deleted } from "../../wire/openapi/list-answers.ts";
import { ModelLibrary, ModelPull, ModelPullEvent, ModelStatus } from "../../wire/openapi/model-library-answers.ts";
import { type Accounts, type AuditEvent, actorOf } from "../accounts/index.ts";
import type { ModelOperations } from "./model-operations.ts";

interface OfModel {
  Params: { id: string };
  Querystring: unknown;
}

/** What the routes need of the accounts. */
interface ModelAccounts extends Pick<Accounts, "authenticate" | "authenticateSession"> {
  organizations: Pick<Accounts["organizations"], "isDefault">;
  auditTrail: Pick<Accounts["auditTrail"], "record">;
  transactions: Pick<Accounts["transactions"], "checkAuthor">;
}

/** Minimum interval of progress events; a new file or phase is reported immediately. */
const PROGRESS_INTERVAL_MS = 200;

/** GET /v1/organization/models; /v1/organization/models/{id}, /load, /unload and /pull; slashes of an ID are percent-encoded. */
export function organizationModels(accounts: ModelAccounts, models: ModelOperations): FastifyPluginAsync {
  const record = (request: FastifyRequest<OfModel>, type: AuditEvent["type"]) =>
    accounts.auditTrail.record(actorOf(request), {
      type,
      organizationId: request.caller.organizationId,
      resourceId: request.params.id,
      details: {},
    });
  return routes(
    // Models belong to the installation: unloading or removing one affects all organizations.
    (app) =>
      app.addHook<OfModel>("preHandler", async (request) => {
        const { caller, params, method } = request;
        if (!(await accounts.organizations.isDefault(caller.organizationId))) {
          throw new Fault("not-found", `The model \`${params.id ?? ""}\` does not exist.`);
        }
        if (method !== "GET") await accounts.transactions.checkAuthor(actorOf(request));
      }),
    operation(
      "GET /models",
      {
        summary:
          "Lists the models that can be pulled, what they need, how fast they are on this machine, and pulls in the background. Not in OpenAI's API; admin keys of the default organization only.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.read",
        answer: ModelLibrary,
      },
      async () => toModelLibrary(await models.library()),
    ),
    operation(
      "POST /models/:id/load",
      {
        summary: "Loads a model. Not in OpenAI's API; admin keys of the default organization only.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.models.write",
        answer: ModelStatus,
      },
      async ({ params, request, reply }) => {
        const status = await models.load(params.id, disconnection(reply));
        await record(request, "model.loaded");
        return toModelStatus(status);
      },
    ),
    operation(
      "POST /models/:id/unload",
      {
        summary: "Unloads a model and frees its memory. Not in OpenAI's API.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.models.write",
        answer: ModelStatus,
      },
      async ({ params, request }) => {
        const status = await models.unload(params.id);
        await record(request, "model.unloaded");
        return toModelStatus(status);
      },
    ),
    operation(
      "POST /models/:id/pull",
      {
        summary:
          "Downloads a model and streams the progress, or with `?background=true` goes on without the client. Not in OpenAI's API.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.models.write",
        query: PullQuery,
        answer: ModelPull,
        content: ["text/event-stream"],
        events: ModelPullEvent,
      },
      async ({ query, request, reply }) => {
        const { params } = request;
        if (query.background === true) {
          const pulled = models.pullInBackground(params.id, () => record(request, "model.pulled"));
          // Later failures are part of the list.
          pulled.catch(() => {});
          await Promise.race([pulled, delay(PROGRESS_INTERVAL_MS)]);
          return toPull(params.id, { state: "running", progress: undefined, message: undefined });
        }
        const frames = new AsyncQueue<string>();
        let last = { key: "", at: 0 };
        let latest: NodeJS.Timeout | undefined;
        const onProgress: Parameters<ModelOperations["pull"]>[2] = (progress) => {
          clearTimeout(latest);
          const key = `${progress.file} ${progress.phase}`;
          const waitMs = key === last.key ? last.at + PROGRESS_INTERVAL_MS - performance.now() : 0;
          if (waitMs > 0) {
            // A download that stalls still reports its last bytes.
            latest = setTimeout(onProgress, waitMs, progress);
            return;
          }
          last = { key, at: performance.now() };
          frames.push(toPullFrame(progress));
        };
        const pulled = models
          .pull(params.id, disconnection(reply), onProgress)
          .then(() => record(request, "model.pulled"));
        // An unknown ID is a 404 rather than an event.
        await Promise.race([pulled, delay(PROGRESS_INTERVAL_MS)]);
        void pulled
          .finally(() => clearTimeout(latest))
          .then(
            () => {
              frames.push("data: [DONE]\n\n");
              frames.end();
            },
            (failure) => frames.end(failure),
          );
        return sendEvents(reply, whileAllowed(request, accounts, frames.read()));
      },
    ),
    operation(
      "DELETE /models/:id/pull",
      {
        summary: "Cancels a pull in the background. Not in OpenAI's API.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.models.write",
        answer: ModelPull,
      },
      async ({ params }) => toPull(params.id, models.cancelPull(params.id)),
    ),
    operation(
      "DELETE /models/:id",
      {
        summary: "Removes a model's files. Not in OpenAI's API.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.models.write",
        answer: deleted("organization.model.deleted"),
      },
      async ({ params, request }) => {
        const { id } = params;
        await models.remove(id);
        await record(request, "model.deleted");
        return toModelDeleted(id);
      },
    ),
  );
}
