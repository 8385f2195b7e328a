/** OpenAPI 3.1 document of the API, made from the schemas that validate requests. */

import { z } from "zod";
import { mapInSlices } from "../../kernel/async/map-in-slices.ts";
import { Components, type JsonSchema } from "./components.ts";
import { ErrorResponses, errorFormatOf } from "./error-responses.ts";
import { names } from "./named.ts";
import { type ContentType, type RegisteredOperation, TAGS } from "./operation.ts";
import { toParameters } from "./parameters.ts";
import { SECURITY, SECURITY_SCHEMES } from "./security.ts";

const DESCRIPTION = `Status: Beta.

The schema of an answer of the type \`text/event-stream\` is that of the data of each of its events, and the schema of \`application/x-ndjson\` that of each line. Streams of chat and text completions end with \`data: [DONE]\`.`;

interface DocumentParts {
  components: Components;
  errors: ErrorResponses;
}

/** Builds the document, in slices. `version` is that of the service. */
export async function toOpenApiDocument(
  version: string,
  operations: readonly RegisteredOperation[],
): Promise<Record<string, unknown>> {
  const components = new Components();
  const errors = new ErrorResponses(components);
  const paths: Record<string, Record<string, unknown>> = {};
  const tags = Object.keys(TAGS);
  const sorted = operations.toSorted((a, b) => tags.indexOf(a.tag) - tags.indexOf(b.tag));
  await mapInSlices(sorted, (operation) => {
    const methods = paths[operation.path] ?? {};
    methods[operation.method.toLowerCase()] = toOperation(operation, { components, errors });
    paths[operation.path] = methods;
  });
  return {
    openapi: "3.1.0",
    info: {
      title: "Parlance",
      version,
      description: DESCRIPTION,
      "x-status": "beta",
      summary: "Self-hosted inference service with an OpenAI-compatible API.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    // Relative to the document, which a proxy may serve below a path.
    servers: [{ url: "." }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: components.schemas, responses: errors.responses, securitySchemes: SECURITY_SCHEMES },
  };
}

function toOperation(operation: RegisteredOperation, parts: DocumentParts) {
  const { method, path, summary, tag, permission } = operation;
  const parameters = toParameters(operation, parts.components);
  const requestBody = toRequestBody(operation, parts.components);
  return {
    operationId: toOperationId(method, path),
    tags: [tag],
    summary,
    security: SECURITY[permission],
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody !== undefined && { requestBody }),
    responses: toResponses(operation, parts),
  };
}

/** `POST /v1/audio/speech` → `postAudioSpeech` */
function toOperationId(method: string, path: string): string {
  const words = path.split(/[^a-zA-Z0-9]+/);
  const parts = words
    .filter((word) => word !== "" && word !== "v1")
    .map((word) => word.replace(/^./, (a) => a.toUpperCase()));
  return `${method.toLowerCase()}${parts.join("")}`;
}

const FILE = z.object({ file: z.file() });

function toRequestBody({ body, form, files, isBodyOptional }: RegisteredOperation, components: Components) {
  if (body === undefined && form === undefined) return undefined;
  const content = {
    ...(body !== undefined && { "application/json": { schema: components.input(body) } }),
    ...(form !== undefined && { "multipart/form-data": { schema: components.input(withFiles(form, files)) } }),
  };
  return { required: isBodyOptional !== true, content };
}

function withFiles(form: z.ZodObject, files = FILE as z.ZodObject): z.ZodObject {
  const complete = form.extend(files.shape);
  const id = names.get(form)?.id;
  if (id !== undefined) names.add(complete, { id });
  return complete;
}

const TEXT: ReadonlySet<ContentType> = new Set(["text/plain", "text/html", "text/vtt", "text/csv"]);
const STREAMS: ReadonlySet<ContentType> = new Set(["text/event-stream", "application/x-ndjson"]);

function toContent(type: ContentType, { method, path, events }: RegisteredOperation, components: Components) {
  if (TEXT.has(type)) return { schema: { type: "string" } };
  if (!STREAMS.has(type)) return { schema: { type: "string", format: "binary" } };
  if (events === undefined) throw new Error(`${method} ${path} streams ${type} without a schema: set \`events\``);
  return { schema: components.answer(events) };
}

function toResponses(operation: RegisteredOperation, { components, errors }: DocumentParts) {
  const { path, answer, content = [], others = {}, hasEmptyAnswer = false } = operation;
  const json = (schema: JsonSchema) => ({ [errorFormatOf(path).mediaType]: { schema } });
  const success = {
    ...(answer !== undefined && json(components.answer(answer))),
    ...Object.fromEntries(content.map((type) => [type, toContent(type, operation, components)])),
  };
  const isOther =
    Object.keys(others).some((status) => Number(status) < 300) || (hasEmptyAnswer && answer === undefined);
  const responses: Record<number, unknown> = isOther ? {} : { 200: { description: "Success.", content: success } };
  if (hasEmptyAnswer) responses[204] = { description: "Success, without a body." };
  Object.assign(responses, errors.of(operation));
  for (const [key, schema] of Object.entries(others)) {
    const status = Number(key);
    responses[status] =
      status >= 400
        ? errors.with(schema, status, path)
        : { description: "Success.", content: json(components.answer(schema)) };
  }
  return responses;
}
