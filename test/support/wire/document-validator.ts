/** Validates answers against the OpenAPI document, whose objects it takes as complete: a field that they lack is a fault. */

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

type Json = Record<string, unknown>;

interface DescribedOperation {
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: Json }> }>;
}

interface Document {
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, Json>; responses: Record<string, DescribedOperation["responses"][string]> };
}

export interface Answer {
  method: string;
  path: string;
  status: string;
  mediaType: string;
  json: string;
}

const ID = "parlance";

export class DocumentValidator {
  readonly #document: Document;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  readonly #templates: [pattern: RegExp, path: string][];
  readonly #validators = new Map<unknown, ValidateFunction>();

  constructor(document: Record<string, unknown>) {
    this.#document = document as unknown as Document;
    this.#ajv.addSchema({ $id: ID, ...(closed(document) as Json) });
    // A path with fewer parameters, or with more text, is the closer match.
    const paths = Object.keys(this.#document.paths).toSorted(
      (a, b) => a.split("{").length - b.split("{").length || b.length - a.length,
    );
    this.#templates = paths.map((path) => [toPattern(path), path]);
  }

  /** Returns what is wrong with an answer; undefined if nothing is. */
  problemOf({ method, path: sentPath, status, mediaType, json }: Answer): string | undefined {
    // A slash at the end of a path has no meaning.
    const concretePath = sentPath.replace(/(?<=.)\/$/, "");
    const [, path = concretePath] = this.#templates.find(([pattern]) => pattern.test(concretePath)) ?? [];
    const operation = this.#document.paths[path]?.[method.toLowerCase()];
    if (operation === undefined) return status === "404" || status === "405" ? undefined : "no operation";
    const response = this.#resolve(operation.responses[status] ?? {});
    const schema = response.content?.[mediaType]?.schema;
    if (schema === undefined) return `no schema of ${status} ${mediaType}`;
    const validate = this.#validators.get(schema) ?? this.#compile(schema);
    this.#validators.set(schema, validate);
    if (validate(JSON.parse(json))) return undefined;
    const faults = (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${instancePath || "/"} ${message} ${Object.values(params as object).join()}`,
    );
    return [...new Set(faults)].slice(0, 4).join("; ");
  }

  #resolve(response: DescribedOperation["responses"][string]) {
    const name = response.$ref?.split("/").at(-1);
    return name === undefined ? response : (this.#document.components.responses[name] ?? {});
  }

  #compile(schema: Json): ValidateFunction {
    return this.#ajv.compile(absolute(closed(schema)) as Json);
  }
}

function toPattern(path: string): RegExp {
  const source = path.split(/\{\w+\}/).map((text) => text.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${source.join("[^/]+")}$`);
}

/** Closes the objects that say which properties they have. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]));
  const { type, properties, additionalProperties, anyOf } = value as Json;
  const isOpen = additionalProperties === undefined || isEmpty(additionalProperties);
  // The properties of an object with variants are those of each.
  const isComplete = type === "object" && properties !== undefined && anyOf === undefined;
  if (isComplete && isOpen) fields.additionalProperties = false;
  return fields;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function absolute(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${ID}#/`));
}
