/** What every route takes and answers, by method and path. The API reference and its tests read it. */

import { z } from "zod";
import { ConsoleSignInBody } from "../openai/console-session.ts";
import { FILE_OPERATIONS } from "./file-operations.ts";
import { MODEL_OPERATIONS } from "./model-operations.ts";
import type { Operation } from "./operation.ts";
import { ORGANIZATION_OPERATIONS } from "./organization-operations.ts";
import { ConsoleSession, Live, Readiness, SignedOut } from "./service-answers.ts";

const SERVICE_OPERATIONS: Readonly<Record<string, Operation>> = {
  "GET /health/live": { answer: Live, errors: "none" },
  "GET /health/ready": { answer: Readiness, others: { 503: Readiness }, errors: "public" },
  "GET /metrics": { content: ["text/plain"], errors: "public" },
  "GET /openapi.json": { answer: z.looseObject({ openapi: z.string() }), errors: "none" },
  "GET /": { content: ["text/html", "text/plain"], errors: "none" },
  "GET /assets/{file}": { content: ["application/octet-stream"], errors: "public" },
  "POST /console/session": { body: ConsoleSignInBody, answer: ConsoleSession, errors: "public" },
  "GET /console/session": { answer: ConsoleSession, errors: "public" },
  "DELETE /console/session": { answer: SignedOut, errors: "public" },
};

export const OPERATIONS: Readonly<Record<string, Operation>> = {
  ...MODEL_OPERATIONS,
  ...FILE_OPERATIONS,
  ...ORGANIZATION_OPERATIONS,
  ...SERVICE_OPERATIONS,
};

/** Parameters that Fastify calls `*`. */
const WILDCARDS: Readonly<Record<string, string>> = { "/v1/models/*": "{model}", "/assets/*": "{file}" };

/** Path of a route as OpenAPI writes it: `/v1/models/:id` and `/v1/models/*` have parameters in braces. */
export function toPathTemplate(url: string): string {
  return url.replace(/:(\w+)/g, "{$1}").replace(/\*$/, WILDCARDS[url] ?? "*");
}
