// untranslated file: code
import { urlOf } from "../../api/request.ts";
import { shellQuote } from "../../components/code-text.ts";
import { fieldsOf, type OpenApi, type Route, resolve, type Schema } from "./openapi.ts";

/** A curl command for an operation, with the fields that it requires. */
export function curlOf(route: Route, document: OpenApi): string {
  const query = (route.parameters ?? []).filter((parameter) => parameter.in === "query" && parameter.required);
  const search = query.map(({ name }) => `${name}=${name.toUpperCase()}`).join("&");
  // The braces of parameters stay readable.
  const url = `${urlOf("").replace(/\/$/, "")}${route.path}${search === "" ? "" : `?${search}`}`;
  const command = `curl${route.method === "GET" ? "" : ` -X ${route.method}`} ${shellQuote(url)}`;
  return [command, ...keyOption(route), ...bodyOptions(route, document)].join(" \\\n  ");
}

function keyOption({ security = [] }: Route): string[] {
  // An empty alternative needs no key.
  if (security.length === 0 || security.some((each) => Object.keys(each).length === 0)) return [];
  const needsAdmin = security.some((each) => "admin_key" in each);
  return [`-H "Authorization: Bearer $${needsAdmin ? "PARLANCE_ADMIN_KEY" : "OPENAI_API_KEY"}"`];
}

function bodyOptions({ requestBody }: Route, document: OpenApi): string[] {
  const { content = {} } = requestBody ?? {};
  const json = content["application/json"]?.schema;
  const form = content["multipart/form-data"]?.schema;
  const fields = form === undefined ? [] : fieldsOf(form, document).filter(([, , isRequired]) => isRequired);
  const body = json && shellQuote(JSON.stringify(exampleOf(json, document), undefined, 2));
  return [
    ...(body === undefined ? [] : [`-H "Content-Type: application/json"`, `-d ${body}`]),
    ...fields.map(([name]) => `-F ${name}=${name === "file" ? "@recording.mp3" : name.toUpperCase()}`),
  ];
}

/** An example with the required fields of a schema. */
function exampleOf(given: Schema, document: OpenApi, depth = 0): unknown {
  const { schema } = resolve(given, document);
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  const [first] = schema.oneOf ?? schema.anyOf ?? [];
  if (schema.properties === undefined && first !== undefined) return exampleOf(first, document, depth);
  switch ([schema.type].flat()[0]) {
    case "object":
      return Object.fromEntries(
        fieldsOf(schema, document)
          .filter(([, , isRequired]) => isRequired && depth < 4)
          .map(([name, field]) => [name, exampleOf(field, document, depth + 1)]),
      );
    case "array":
      return schema.items === undefined ? [] : [exampleOf(schema.items, document, depth + 1)];
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    default:
      return "…";
  }
}
