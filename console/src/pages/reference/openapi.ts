import { queryOptions } from "@tanstack/react-query";
import { request } from "../../api/request.ts";

/** JSON Schema in an OpenAPI 3.1 document. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  additionalProperties?: boolean | Schema;
}

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  security?: Record<string, string[]>[];
  parameters?: { name: string; in: string; required: boolean; description?: string; schema: Schema }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, Answer>;
}

interface Answer {
  description: string;
  content?: Record<string, { schema?: Schema }>;
}

type Described = Omit<Operation, "responses"> & { responses: Record<string, Answer | { $ref: string }> };

export interface OpenApi {
  info: { version: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Answer> };
}

export interface Route extends Operation {
  method: string;
  path: string;
}

export const openApiQuery = queryOptions({
  queryKey: ["openapi"],
  queryFn: ({ signal }) => request<OpenApi>("openapi.json", { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Returns the operations, with the answers that they share. */
export function routesOf({ paths, components }: OpenApi): Route[] {
  const answerOf = (answer: Answer | { $ref: string }): Answer => {
    if (!("$ref" in answer)) return answer;
    return components.responses[answer.$ref.split("/").at(-1) ?? ""] ?? { description: "" };
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      responses: Object.fromEntries(
        Object.entries(operation.responses).map(([status, answer]) => [status, answerOf(answer)]),
      ),
      method: method.toUpperCase(),
      path,
    })),
  );
}

/** Schema that a reference names, and the name; other schemas as they are. */
export function resolve(schema: Schema, { components }: OpenApi): { schema: Schema; name: string | undefined } {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? { schema, name } : { schema: components.schemas[name] ?? {}, name };
}

/** `string`, `integer ≥ 1`, `array of Project` and the like. */
export function typeOf(given: Schema, document: OpenApi): string {
  const { schema, name } = resolve(given, document);
  if (name !== undefined) return name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined && schema.type === undefined) {
    return [...new Set(alternatives.map((each) => typeOf(each, document)))].join(" | ");
  }
  if (schema.type === "array") return `array of ${typeOf(schema.items ?? {}, document)}`;
  const type = [schema.type ?? "any"].flat().join(" | ");
  return `${type}${boundsOf(schema)}`;
}

// untranslated file: types of the OpenAPI document, which is English
function boundsOf({ minimum, maximum, maxLength }: Schema): string {
  if (minimum !== undefined && maximum !== undefined) return ` ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` ≥ ${minimum}`;
  if (maximum !== undefined) return ` ≤ ${maximum}`;
  return maxLength === undefined ? "" : ` up to ${maxLength} characters`;
}

/** Fields of an object, also below null, unions and arrays. */
export function fieldsOf(given: Schema, document: OpenApi): [name: string, schema: Schema, isRequired: boolean][] {
  const { schema } = resolve(given, document);
  if (schema.properties !== undefined) {
    return Object.entries(schema.properties).map(([name, field]) => [
      name,
      field,
      schema.required?.includes(name) === true,
    ]);
  }
  if (schema.items !== undefined) return fieldsOf(schema.items, document);
  const inner = (schema.anyOf ?? schema.oneOf ?? []).filter((each) => each.type !== "null");
  return inner.length === 1 && inner[0] !== undefined ? fieldsOf(inner[0], document) : [];
}
