/** One operation of an OpenAPI document as a tool. */

import type { McpTool } from "../mcp-offer.ts";
import type { ApiBody, ApiOperation, ApiParameter, ParameterStyle } from "./api-description.ts";
import { dereference, isMapping, type Mapping } from "./resolve-pointer.ts";
import { resolveSchema } from "./resolve-schema.ts";

/** Where an operation is in the document. */
export interface OperationPlace {
  document: Mapping;
  method: string;
  path: string;
  item: Mapping;
  operation: Mapping;
  /** Names of the service's tools so far, which `readOperation` adds to. */
  names: Set<string>;
}

/** An operation that no call can be made for: the message completes "it is left out: …". */
export class LeftOut extends Error {}

const MAX_PATH = 2_000;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 4_000;
const MAX_PARAMETERS = 200;
/** Headers that describe the message or belong to the connection. */
const RESERVED_HEADERS =
  /^(accept|authorization|connection|content-(type|length|encoding)|cookie|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;
const DEFAULT_STYLES = { path: "simple", query: "form", header: "simple" } as const;
const STYLES: Readonly<Record<ApiParameter["in"], ReadonlySet<unknown>>> = {
  path: new Set(["simple"]),
  query: new Set(["form", "spaceDelimited", "pipeDelimited", "deepObject"]),
  header: new Set(["simple"]),
};

/** Throws LeftOut. */
export function readOperation(place: OperationPlace): ApiOperation {
  const { document, method, path, item, operation } = place;
  if (item.servers !== undefined || operation.servers !== undefined) throw new LeftOut("it has servers of its own");
  const properties: Mapping = {};
  const required: string[] = [];
  const addArgument = (argument: string, schema: Mapping, isRequired: boolean) => {
    properties[argument] = schema;
    if (isRequired) required.push(argument);
  };
  const parameters = parametersOf(place).flatMap((each) => {
    const read = readParameter(each, properties);
    if (read === undefined) return [];
    const schema = resolveSchema(document, schemaOf(each));
    const described =
      typeof each.description === "string" ? { ...schema, description: each.description.slice(0, 1_000) } : schema;
    addArgument(read.argument, described, read.required);
    return [read];
  });
  if (path.length > MAX_PATH) throw new LeftOut(`its path has more than ${MAX_PATH} characters`);
  const inPath = new Set<string>();
  for (const [, name = ""] of path.matchAll(/\{([^{}]*)\}/g)) {
    if (inPath.has(name)) throw new LeftOut(`its path has {${name}} twice`);
    inPath.add(name);
    if (!parameters.some((each) => each.in === "path" && each.name === name)) {
      throw new LeftOut(`its path has {${name}}, which no parameter describes`);
    }
  }
  const body = readBody(place, properties);
  if (body !== undefined) addArgument(body.read.argument, body.schema, body.read.required);
  const inputSchema: McpTool["inputSchema"] = {
    type: "object",
    properties: properties as NonNullable<McpTool["inputSchema"]["properties"]>,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
  return { tool: toTool(place, inputSchema), method: method.toUpperCase(), path, parameters, body: body?.read };
}

function toTool({ method, path, operation, names }: OperationPlace, inputSchema: McpTool["inputSchema"]): McpTool {
  const { operationId, summary, description, deprecated } = operation;
  const texts = [deprecated === true && "Deprecated.", summary, description];
  const text = texts.filter((each) => typeof each === "string" && each !== "").join("\n\n");
  const name = uniqueName(toName(typeof operationId === "string" ? operationId : `${method}_${path}`), names);
  names.add(name);
  const isRead = method === "get" || method === "head";
  return {
    name,
    ...(typeof summary === "string" && summary !== "" && { title: summary.slice(0, 200) }),
    description: (text || `${method.toUpperCase()} ${path}`).slice(0, MAX_DESCRIPTION),
    inputSchema,
    annotations: {
      readOnlyHint: isRead,
      destructiveHint: method === "delete",
      idempotentHint: isRead || method === "put" || method === "delete",
      openWorldHint: true,
    },
  };
}

/** Parameters of the path, each replaced by the operation's own of the same name and place. */
function parametersOf({ document, item, operation }: OperationPlace): Mapping[] {
  const byPlace = new Map<string, Mapping>();
  for (const list of [item.parameters, operation.parameters]) {
    if (!Array.isArray(list)) continue;
    if (list.length > MAX_PARAMETERS) throw new LeftOut(`it has more than ${MAX_PARAMETERS} parameters`);
    for (const each of list) {
      const parameter = dereference(document, each);
      if (parameter === undefined) throw new LeftOut("a parameter refers to what the document does not have");
      byPlace.set(`${parameter.in} ${parameter.name}`, parameter);
    }
  }
  return [...byPlace.values()];
}

/** Undefined: the parameter is not sent. */
function readParameter(parameter: Mapping, taken: Mapping): ApiParameter | undefined {
  const { name, in: location, required, style, explode, content } = parameter;
  if (typeof name !== "string" || name === "") throw new LeftOut("a parameter has no name");
  const isKnown = location === "path" || location === "query" || location === "header";
  const isSent =
    isKnown && !(location === "header" && (RESERVED_HEADERS.test(name) || !/^[\w!#$%&'*+.^`|~-]+$/.test(name)));
  if (!isSent) {
    // The service sends those itself, such as the operator's key.
    if (required !== true || location === "header") return undefined;
    throw new LeftOut(`it needs '${name}' in ${String(location)}, which is not sent`);
  }
  const used = style ?? DEFAULT_STYLES[location];
  if (!STYLES[location].has(used)) throw new LeftOut(`the parameter '${name}' has the style '${String(style)}'`);
  return {
    argument: uniqueName(toArgument(name), new Set(Object.keys(taken)), location),
    name,
    in: location,
    required: required === true || location === "path",
    style: isMapping(content) ? "json" : (used as ParameterStyle),
    explode: typeof explode === "boolean" ? explode : used === "form",
  };
}

function schemaOf({ schema, content }: Mapping): unknown {
  if (!isMapping(content)) return schema ?? {};
  const [media] = Object.values(content);
  return isMapping(media) ? media.schema : {};
}

function readBody(
  { document, operation }: OperationPlace,
  taken: Mapping,
): { read: ApiBody; schema: Mapping } | undefined {
  const described = operation.requestBody;
  if (described === undefined) return undefined;
  const requestBody = dereference(document, described);
  if (requestBody === undefined) throw new LeftOut("its body refers to what the document does not have");
  const content = isMapping(requestBody.content) ? requestBody.content : {};
  const mediaType = preferred(Object.keys(content));
  if (mediaType === undefined) {
    if (requestBody.required !== true) return undefined;
    throw new LeftOut(`its body has the type ${Object.keys(content).join(", ").slice(0, 200) || "of nothing"}`);
  }
  const media = dereference(document, content[mediaType]);
  const schema = /^text\/|xml/.test(mediaType) ? { type: "string" } : resolveSchema(document, media?.schema ?? {});
  const text = requestBody.description;
  const read = {
    argument: uniqueName("body", new Set(Object.keys(taken)), "request"),
    mediaType,
    required: requestBody.required === true,
    files: mediaType.startsWith("multipart/form-data") ? filesOf(schema) : [],
  };
  return { read, schema: typeof text === "string" ? { ...schema, description: text.slice(0, 1_000) } : schema };
}

/** The type that a model writes best. */
function preferred(mediaTypes: readonly string[]): string | undefined {
  const patterns = [
    /^application\/(json|[\w.-]+\+json)\b/i,
    /^multipart\/form-data\b/i,
    /^application\/x-www-form-urlencoded\b/i,
    /^(text\/|application\/([\w.-]+\+)?xml\b)/i,
  ];
  for (const pattern of patterns) {
    const mediaType = mediaTypes.find((each) => pattern.test(each) && !/[\r\n\0]/.test(each));
    if (mediaType !== undefined) return mediaType;
  }
  return mediaTypes.includes("*/*") ? "application/json" : undefined;
}

function filesOf({ properties }: Mapping): string[] {
  if (!isMapping(properties)) return [];
  return Object.entries(properties).flatMap(([name, value]) => {
    const { format, contentMediaType } = value as Mapping;
    return format === "binary" || contentMediaType === "application/octet-stream" ? [name] : [];
  });
}

function toName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, MAX_NAME);
  return /[A-Za-z0-9]/.test(name) ? name.replace(/^_|_$/g, "") : "operation";
}

/** Anthropic's API takes no other names of properties. */
function toArgument(name: string): string {
  return name.replace(/[^A-Za-z0-9_.-]/g, "_").slice(0, MAX_NAME);
}

function uniqueName(name: string, taken: ReadonlySet<string>, prefix?: string): string {
  if (!taken.has(name)) return name;
  const first = prefix === undefined ? name : `${prefix}_${name}`.slice(0, MAX_NAME);
  if (!taken.has(first)) return first;
  for (let count = 2; ; count += 1) {
    const numbered = `${first.slice(0, MAX_NAME - 6)}_${count}`;
    if (!taken.has(numbered)) return numbered;
  }
}
