/** OpenAPI 3.1 document of the API, made from the schemas that validate requests. */

import { z } from "zod";
import { Components, type JsonSchema } from "./components.ts";
import type { ContentType, ErrorKind, Operation } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import { ROUTE_SUMMARIES } from "./route-summaries.ts";
import { AnthropicErrorAnswer, ErrorAnswer, OllamaErrorAnswer } from "./service-answers.ts";

/** Sections of the reference, by the beginning of their paths. */
const TAGS: readonly (readonly [tag: string, path: RegExp, description: string])[] = [
  ["Chat", /^\/v1\/(chat|messages|completions)/, "Chat in OpenAI's and Anthropic's formats, and text completions."],
  ["Responses", /^\/v1\/(responses|conversations)/, "OpenAI's Responses API and conversations."],
  ["Audio", /^\/v1\/audio/, "Speech and transcription."],
  ["Text", /^\/v[12]\/(embeddings|moderations|rerank)/, "Embeddings, reranking and moderation."],
  ["Batches", /^\/v1\/(files|batches)/, "Files, and batches of requests that run with low priority."],
  ["Ollama", /^\/api\//, "Ollama's API."],
  ["Models", /^\/v1\/models/, "Models that a key may use."],
  ["Projects", /^\/v1\/organization\/projects/, "Projects, service accounts, keys and their limits."],
  ["Reports", /^\/v1\/organization\/(usage|costs|requests|overview|audit_logs)/, "Usage, costs, requests and changes."],
  ["Organization", /^\/v1\/organization/, "Admin keys, models and limits of the organization."],
  ["Service", /^\//, "Health, metrics and the console."],
];

const ERRORS: Readonly<Record<number, string>> = {
  400: "The request is not valid; `param` names the field.",
  401: "The key is missing, wrong, revoked or expired.",
  403: "The key must not do this.",
  404: "There is no such resource.",
  405: "The path has other methods; `allow` lists them.",
  408: "The request did not arrive within the time limit.",
  409: "The request conflicts with the state of the resource.",
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
const STATUSES: Readonly<Record<ErrorKind, readonly number[]>> = {
  none: [400, 405, 408, 431, 500, 503],
  public: COMMON,
  administration: [...COMMON, 502, 504],
  inference: [...COMMON, 502, 504],
  messages: [...COMMON, 502, 504],
  ollama: [...COMMON, 502, 504],
};

const METHODS_WITH_KEY: readonly ErrorKind[] = ["administration", "inference", "messages", "ollama"];

/** Builds the document. `version` is that of the service. */
export function toOpenApiDocument(version: string): Record<string, unknown> {
  const components = new Components();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [route, operation] of Object.entries(OPERATIONS)) {
    const [method = "", path = ""] = route.split(" ");
    const methods = paths[path] ?? {};
    methods[method.toLowerCase()] = toOperation(method, path, operation, components);
    paths[path] = methods;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Parlance",
      version,
      summary: "Self-hosted inference service with an OpenAI-compatible API.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    // Relative to the document, which a proxy may serve below a path.
    servers: [{ url: "." }],
    tags: TAGS.map(([name, , description]) => ({ name, description })),
    paths,
    components: {
      schemas: components.schemas,
      securitySchemes: {
        project_key: { type: "http", scheme: "bearer", description: "API key of a project." },
        admin_key: { type: "http", scheme: "bearer", description: "Admin key of the organization." },
      },
    },
  };
}

function toOperation(method: string, path: string, operation: Operation, components: Components) {
  const { query, body, form, isBodyOptional, errors } = operation;
  const [tag = "Service"] = TAGS.find(([, beginning]) => beginning.test(path)) ?? [];
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
    summary: ROUTE_SUMMARIES[`${method} ${path}`] ?? ROUTE_SUMMARIES[`${method} ${toRoute(path)}`] ?? "",
    ...(METHODS_WITH_KEY.includes(errors) && {
      security: [{ [errors === "administration" ? "admin_key" : "project_key"]: [] }],
    }),
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
  const named = words
    .filter((word) => word !== "" && word !== "v1")
    .map((word) => word.replace(/^./, (a) => a.toUpperCase()));
  return `${method.toLowerCase()}${named.join("")}`;
}

/** Key of the summary of a path that is a wildcard in its route. */
function toRoute(path: string): string {
  return path.replace(/\/\{(model|file)\}$/, "/*");
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

const ERROR_ANSWERS: Partial<Record<ErrorKind, z.ZodType>> = {
  messages: AnthropicErrorAnswer,
  ollama: OllamaErrorAnswer,
};

function toResponses({ answer, content = [], others = {}, errors }: Operation, components: Components) {
  const body = ERROR_ANSWERS[errors] ?? ErrorAnswer;
  const success = {
    ...(answer !== undefined && json(components.answer(answer))),
    ...Object.fromEntries(
      // Neither bytes nor events have a schema in OpenAPI 3.1.
      content.map((type) => [type, TEXT.has(type) ? { schema: { type: "string" } } : {}]),
    ),
  };
  const responses: Record<number, unknown> = { 200: { description: "Success.", content: success } };
  for (const status of STATUSES[errors]) {
    responses[status] = { description: ERRORS[status], content: json(components.answer(body)) };
  }
  for (const [status, schema] of Object.entries(others)) {
    const either = z.union([schema, body]);
    responses[Number(status)] = { description: ERRORS[Number(status)], content: json(components.answer(either)) };
  }
  return responses;
}

function json(schema: JsonSchema) {
  return { "application/json": { schema } };
}
