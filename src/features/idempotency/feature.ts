/** The header `Idempotency-Key` of requests that create objects. */

import type { FastifyInstance, onSendAsyncHookHandler, preHandlerAsyncHookHandler, RouteOptions } from "fastify";
import type { Feature } from "../../http/feature.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import type { Operation, Tag } from "../../wire/openapi/operation.ts";
import { type FirstRequest, IdempotentRequests } from "./idempotent-requests.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set for a request whose answer is stored for an equal one. */
    idempotent: FirstRequest | undefined;
  }
}

/** Operations that run models: official clients send the header with each of their requests, whose answers nobody stores. */
const MODEL_TAGS: ReadonlySet<Tag> = new Set([
  ...(["Chat", "Realtime", "Audio", "Images", "Text", "Ollama", "Gemini", "Cohere", "MCP"] as const),
]);

export function idempotencyFeature({ database, logger }: { database: Database; logger: Logger }): Feature {
  const requests = new IdempotentRequests(database);
  return { addHooks: (app) => repeatAnswers(app, requests, logger) };
}

function repeatAnswers(app: FastifyInstance, requests: IdempotentRequests, logger: Logger): void {
  app.decorateRequest("idempotent", undefined);
  const preHandler: preHandlerAsyncHookHandler = async (request, reply) => {
    const { headers, method, caller } = request;
    const key = headers["idempotency-key"];
    if (typeof key !== "string" || key === "" || caller === undefined) return;
    const [path = ""] = request.url.split("?");
    const { keyId, organizationId } = caller;
    const { body } = request;
    const begun = await requests.begin({ keyId, organizationId, method, path, idempotencyKey: key, body });
    if ("end" in begun) {
      request.idempotent = begun;
      return;
    }
    reply.header("idempotent-replayed", "true").type("application/json; charset=utf-8").code(begun.status);
    return reply.send(begun.body);
  };
  const onSend: onSendAsyncHookHandler = async (request, reply, payload) => {
    const { idempotent } = request;
    if (idempotent === undefined) return payload;
    request.idempotent = undefined;
    // The object is there: a store that fails must not turn the answer into an error.
    await idempotent
      .end(typeof payload === "string" ? reply.statusCode : 500, String(payload))
      .catch((err: unknown) => logger.warn({ err }, "the answer of an Idempotency-Key is not stored"));
    return payload;
  };
  // Hooks of these routes only: requests for models pay nothing for them.
  app.addHook("onRoute", (route) => {
    if (!isCreation(route)) return;
    route.preHandler = [...[route.preHandler ?? []].flat(), preHandler];
    route.onSend = [...[route.onSend ?? []].flat(), onSend];
  });
}

/** Whether a route creates an object from a JSON body. Credentials are given once, and never stored. */
function isCreation({ method, url, config }: RouteOptions): boolean {
  const operation = config?.operation;
  if (method !== "POST" || operation?.body === undefined || operation.grants === "credential") return false;
  const isOfModel = MODEL_TAGS.has(operation.tag) || (operation.tag === "Responses" && !isConversation(url));
  return !isOfModel && hasJsonAnswer(operation);
}

function isConversation(url: string): boolean {
  return url.startsWith("/v1/conversations");
}

function hasJsonAnswer({ answer, others = {}, content = [] }: Operation): boolean {
  return content.length === 0 && (answer !== undefined || Object.keys(others).length > 0);
}
