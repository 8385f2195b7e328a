/** OpenAPI 3.1 document of the API, made from the schemas that validate requests. */

import { z } from "zod";
import { mapInSlices } from "../../kernel/async/map-in-slices.ts";
import { ScimErrorAnswer } from "../scim/resources.ts";
import { SCIM_MEDIA_TYPE } from "../scim/scim-error.ts";
import { Components, type JsonSchema } from "./components.ts";
import { type ContentType, type Permission, type RegisteredOperation, TAGS } from "./operation.ts";
import { AnthropicErrorAnswer, ErrorAnswer, OllamaErrorAnswer } from "./service-answers.ts";

const ERRORS: Readonly<Record<number, string>> = {
  400: "The request is not valid; `param` names the field.",
  401: "The key is missing, wrong, revoked or expired.",
  403: "The key must not do this.",
  404: "There is no such resource.",
  405: "The path has other methods; `allow` lists them.",
  408: "The request did not arrive within the time limit.",
  409: "The request conflicts with the state of the resource.",
  412: "The resource has changed since the version in `If-Match`.",
  413: "The body is too large.",
  415: "The content type is not supported.",
  417: "The header `Expect` cannot be satisfied.",
  429: "A limit is reached; `retry-after` says when to try again.",
  431: "The headers are too large.",
  500: "The service failed. Its log has the reason under the request ID.",
  502: "An upstream failed.",
  503: "The service, or a model, is not available at the moment.",
  504: "The time limit was exceeded.",
};

const COMMON = [400, 401, 403, 404, 405, 408, 409, 413, 415, 417, 429, 431, 500, 503];

const SECURITY: Readonly<Partial<Record<Permission, readonly Record<string, []>[]>>> = {
  project: [{ project_key: [] }],
  admin: [{ admin_key: [] }],
  "admin-or-project": [{ admin_key: [] }, { project_key: [] }],
  operator: [{ operator_key: [] }],
};

/** Statuses of errors. */
function statusesOf({ permission, wildcard, path }: RegisteredOperation): readonly number[] {
  if (path.startsWith("/scim/")) return [...COMMON, 412];
  if (permission in SECURITY) return [...COMMON, 502, 504];
  return permission === "public" && wildcard === undefined ? [400, 405, 408, 431, 500, 503] : COMMON;
}

/** Builds the document, in slices. `version` is that of the service. */
export async function toOpenApiDocument(
  version: string,
  operations: readonly RegisteredOperation[],
): Promise<Record<string, unknown>> {
  const components = new Components();
  const paths: Record<string, Record<string, unknown>> = {};
  const tags = Object.keys(TAGS);
  const sorted = operations.toSorted((a, b) => tags.indexOf(a.tag) - tags.indexOf(b.tag));
  await mapInSlices(sorted, (operation) => {
    const methods = paths[operation.path] ?? {};
    methods[operation.method.toLowerCase()] = toOperation(operation, components);
    paths[operation.path] = methods;
  });
  return {
    openapi: "3.1.0",
    info: {
      title: "Parlance",
      version,
      description: "Status: Beta.",
      "x-status": "beta",
      summary: "Self-hosted inference service with an OpenAI-compatible API.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    // Relative to the document, which a proxy may serve below a path.
    servers: [{ url: "." }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: components.schemas,
      securitySchemes: {
        project_key: { type: "http", scheme: "bearer", description: "API key of a project." },
        admin_key: { type: "http", scheme: "bearer", description: "Admin key of the organization." },
        operator_key: {
          type: "http",
          scheme: "bearer",
          description: "Temporary key that a command creates on the machine of the service.",
        },
      },
    },
  };
}

function toOperation(operation: RegisteredOperation, components: Components) {
  const { method, path, summary, tag, permission, query, body, form, isBodyOptional } = operation;
  const security = SECURITY[permission];
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: "path",
      required: true,
      schema: { type: "string", minLength: 1 },
    })),
    ...Object.entries(query?.shape ?? {}).map(([name, schema]) =>
      toQueryParameter(name, schema as z.ZodType, components),
    ),
  ];
  return {
    operationId: toOperationId(method, path),
    tags: [tag],
    summary,
    ...(security !== undefined && { security }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: isBodyOptional !== true,
        content: { "application/json": { schema: components.input(body) } },
      },
    }),
    ...(form !== undefined && {
      requestBody: { required: true, content: { "multipart/form-data": { schema: withFile(components.input(form)) } } },
    }),
    responses: toResponses(operation, components),
  };
}

/** `POST /v1/audio/speech` → `postAudioSpeech` */
function toOperationId(method: string, path: string): string {
  const words = path.replace(/\/$/, "_list").split(/[^a-zA-Z0-9]+/);
  const parts = words
    .filter((word) => word !== "" && word !== "v1")
    .map((word) => word.replace(/^./, (a) => a.toUpperCase()));
  return `${method.toLowerCase()}${parts.join("")}`;
}

function toQueryParameter(name: string, schema: z.ZodType, components: Components) {
  const { description, ...json } = components.input(schema);
  return {
    name,
    in: "query",
    required: !schema.safeParse(undefined).success,
    ...(typeof description === "string" && { description }),
    schema: json,
  };
}

function withFile(schema: JsonSchema): JsonSchema {
  return {
    ...schema,
    properties: {
      file: { type: "string", contentMediaType: "application/octet-stream", description: "The recording." },
      ...schema.properties,
    },
    required: ["file", ...(schema.required ?? [])],
  };
}

const TEXT: ReadonlySet<ContentType> = new Set(["text/plain", "text/html", "text/vtt"]);

/** Body of errors, which clients of other vendors expect in the vendor's format. */
function errorAnswerOf(path: string): z.ZodType {
  if (path.startsWith("/scim/")) return ScimErrorAnswer;
  if (path.startsWith("/api/")) return OllamaErrorAnswer;
  return path.startsWith("/v1/messages") ? AnthropicErrorAnswer : ErrorAnswer;
}

function toResponses(operation: RegisteredOperation, components: Components) {
  const { path, answer, content = [], others = {}, hasEmptyAnswer = false } = operation;
  const body = errorAnswerOf(path);
  const json = (schema: JsonSchema) => ({ [mediaTypeOf(path)]: { schema } });
  const success = {
    ...(answer !== undefined && json(components.answer(answer))),
    ...Object.fromEntries(
      // Neither bytes nor events have a schema in OpenAPI 3.1.
      content.map((type) => [type, TEXT.has(type) ? { schema: { type: "string" } } : {}]),
    ),
  };
  const isOther =
    Object.keys(others).some((status) => Number(status) < 300) || (hasEmptyAnswer && answer === undefined);
  const responses: Record<number, unknown> = isOther ? {} : { 200: { description: "Success.", content: success } };
  if (hasEmptyAnswer) responses[204] = { description: "Success, without a body." };
  for (const status of statusesOf(operation)) {
    responses[status] = { description: ERRORS[status], content: json(components.answer(body)) };
  }
  for (const [status, schema] of Object.entries(others)) {
    const isError = Number(status) >= 400;
    const either = isError ? z.union([schema, body]) : schema;
    const description = isError ? ERRORS[Number(status)] : "Success.";
    responses[Number(status)] = { description, content: json(components.answer(either)) };
  }
  return responses;
}

function mediaTypeOf(path: string): string {
  return path.startsWith("/scim/") ? SCIM_MEDIA_TYPE : "application/json";
}
