/** Reads an OpenAPI document, JSON or YAML, within bounds. */

import type { ApiDescription, ApiOperation } from "./api-description.ts";
import { LeftOut, type OperationPlace, readOperation } from "./read-operation.ts";
import { dereference, isMapping, type Mapping } from "./resolve-pointer.ts";

/** Entries of a list of tools. */
const MAX_OPERATIONS = 1_000;
/** Characters of all operations together, which references repeat. */
const MAX_LENGTH = 8 * 1024 * 1024;
const MAX_SERVER_LENGTH = 4096;
const MAX_LEFT_OUT = 20;
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch"];

/** Throws an Error whose message completes "its document cannot be used: …". */
export async function readDocument(text: string): Promise<ApiDescription> {
  const document = await parseText(text);
  if (!isMapping(document)) throw new Error("it is not an object");
  if (document.swagger !== undefined) throw new Error("it is Swagger 2.0; convert it to OpenAPI 3.0 or 3.1");
  if (typeof document.openapi !== "string" || !/^3\.\d/.test(document.openapi)) {
    throw new Error("it is not OpenAPI 3: `openapi` is not 3.0 or 3.1");
  }
  const { operations, leftOut } = readOperations(document);
  const info = isMapping(document.info) ? document.info : {};
  return {
    title: String(info.title ?? "").slice(0, 200),
    version: String(info.version ?? "").slice(0, 100),
    server: serverOf(document),
    operations,
    leftOut,
  };
}

async function parseText(text: string): Promise<unknown> {
  const isJson = /^\s*[{[]/.test(text);
  try {
    if (isJson) return JSON.parse(text);
    const { parse } = await import("yaml");
    // Aliases may repeat each other; the limit of the library stops that.
    return parse(text, { logLevel: "error", schema: "core" });
  } catch {
    // The parsers quote the text, which may be another file than the operator meant.
    throw new Error(isJson ? "it is not valid JSON" : "it is not valid YAML");
  }
}

function readOperations(document: Mapping): Pick<ApiDescription, "operations" | "leftOut"> {
  const operations: ApiOperation[] = [];
  const leftOut: string[] = [];
  const names = new Set<string>();
  let length = 0;
  for (const place of placesOf(document)) {
    const read = readOrReason({ ...place, document, names });
    if (typeof read === "string") {
      if (leftOut.length < MAX_LEFT_OUT) leftOut.push(read);
      continue;
    }
    operations.push(read);
    length += JSON.stringify(read).length;
    if (length > MAX_LENGTH) throw new Error(`its operations have more than ${MAX_LENGTH} characters, the limit`);
    if (operations.length > MAX_OPERATIONS) {
      throw new Error(`it has more than ${MAX_OPERATIONS} operations, the limit; leave out those that no model needs`);
    }
  }
  return { operations, leftOut };
}

function* placesOf(document: Mapping): Generator<Pick<OperationPlace, "path" | "method" | "item" | "operation">> {
  const paths = isMapping(document.paths) ? Object.entries(document.paths) : [];
  for (const [path, entry] of paths) {
    const item = path.startsWith("/") ? dereference(document, entry) : undefined;
    if (item === undefined) continue;
    for (const method of METHODS) {
      const operation = item[method];
      if (isMapping(operation)) yield { path, method, item, operation };
    }
  }
}

/** Returns the operation, or a line that says why no call of it can be made. */
function readOrReason(place: OperationPlace): ApiOperation | string {
  try {
    return readOperation(place);
  } catch (failure) {
    if (!(failure instanceof LeftOut)) throw failure;
    return `${place.method.toUpperCase()} ${place.path.slice(0, 200)}: ${failure.message.slice(0, 300)}`;
  }
}

function serverOf({ servers }: Mapping): string | undefined {
  const [first] = Array.isArray(servers) ? servers : [];
  if (!isMapping(first) || typeof first.url !== "string") return undefined;
  const variables = isMapping(first.variables) ? first.variables : {};
  const server = first.url.replace(/\{([^{}]{1,100})\}/g, (whole, name) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isMapping(variable) && typeof variable.default === "string" ? variable.default : whole;
  });
  if (server.length > MAX_SERVER_LENGTH) throw new Error("the address of its API is too long");
  return server;
}
