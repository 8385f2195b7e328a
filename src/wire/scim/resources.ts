/** Resources of SCIM as clients see them: users, groups, lists, and what the service can do. */

import { hash } from "node:crypto";
import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { attributesOf, findAttribute, RESOURCE_TYPES, type ResourceType, SCHEMAS } from "./attributes.ts";
import type { Attributes } from "./read-resource.ts";
import type { ScimDiscovery, ScimList, ScimResource, ScimServiceProviderConfig } from "./scim-answers.ts";

const LIST_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
/** Entries of a page without `count`, and the maximum. */
const DEFAULT_COUNT = 100;
const MAX_COUNT = 1_000;

export const ScimPatchBody = named(
  "ScimPatchBody",
  lazy.looseObject(() => ({
    schemas: listOf(z.string()).optional(),
    Operations: listOf(z.looseObject({ op: z.string(), path: z.string().optional() })).optional(),
  })),
);

const SELECTION = {
  attributes: z.string().optional().describe("Attributes to return, separated by commas."),
  excludedAttributes: z.string().optional().describe("Attributes to leave out, separated by commas."),
};
export const ScimSelectionQuery = z.looseObject(SELECTION);
export const ScimListQuery = lazy.looseObject(() => ({
  ...SELECTION,
  filter: z.string().optional().describe('Filter, such as `userName eq "ada@example.com"`.'),
  startIndex: z.coerce.number().int().optional().describe("Number of the first entry, from 1."),
  count: z.coerce
    .number()
    .int()
    .optional()
    .describe(`Entries of a page; default ${DEFAULT_COUNT}, at most ${MAX_COUNT}.`),
}));
export const ScimSearchBody = named(
  "ScimSearchBody",
  lazy.looseObject(() => ({
    attributes: listOf(z.string()).optional(),
    excludedAttributes: listOf(z.string()).optional(),
    filter: z.string().optional(),
    startIndex: z.int().optional(),
    count: z.int().optional(),
  })),
);

/** Which attributes of a resource to return; undefined: all. */
export interface Selection {
  attributes: readonly string[] | undefined;
  excluded: readonly string[];
}

export interface ListRequest {
  selection: Selection;
  filter: string | undefined;
  /** Entries before the page. */
  offset: number;
  count: number;
}

export function readSelection({ attributes, excludedAttributes }: z.output<typeof ScimSelectionQuery>): Selection {
  return {
    attributes: attributes === undefined ? undefined : split(attributes),
    excluded: split(excludedAttributes ?? ""),
  };
}

export function readListRequest(query: z.output<typeof ScimListQuery>): ListRequest {
  return { ...toPage(query), selection: readSelection(query) };
}

export function readSearch(body: z.output<typeof ScimSearchBody>): ListRequest {
  const { attributes, excludedAttributes = [] } = body;
  return { ...toPage(body), selection: { attributes, excluded: excludedAttributes } };
}

function toPage({
  filter,
  startIndex = 1,
  count = DEFAULT_COUNT,
}: {
  filter?: string | undefined;
  startIndex?: number | undefined;
  count?: number | undefined;
}) {
  return {
    filter: filter === "" ? undefined : filter,
    offset: Math.max(0, startIndex - 1),
    count: Math.min(MAX_COUNT, Math.max(0, count)),
  };
}

function split(names: string): string[] {
  return names.split(",").flatMap((name) => name.trim() || []);
}

/** Whether a selection contains an attribute, so that it has to be read. */
export function isSelected({ attributes, excluded }: Selection, name: string): boolean {
  const key = name.toLowerCase();
  const isAmong = (names: readonly string[]) =>
    names.some((each) => each.toLowerCase().split(":").at(-1)?.split(".")[0] === key);
  return attributes === undefined
    ? !excluded.some((each) => each.toLowerCase().split(":").at(-1) === key)
    : isAmong(attributes);
}

/** Returns a user or group with its schemas, metadata and version. */
export function toScimResource(
  type: ResourceType,
  { id, createdAt, base, isVersioned = true }: { id: string; createdAt: number; base: string; isVersioned?: boolean },
  attributes: Attributes,
): AnswerOf<typeof ScimResource> {
  const { groups: _groups, ...own } = attributes;
  return {
    schemas: [type.schema.id, ...type.extensions.map((each) => each.id).filter((each) => each in attributes)],
    id,
    ...attributes,
    meta: {
      resourceType: type.name,
      created: new Date(createdAt).toISOString(),
      location: `${base}${type.endpoint}/${id}`,
      ...(isVersioned && { version: `W/"${hash("sha256", JSON.stringify(own)).slice(0, 32)}"` }),
    },
  };
}

/** Leaves out the attributes that the client does not want. `schemas` and `id` are always returned. */
export function select(
  type: ResourceType,
  resource: AnswerOf<typeof ScimResource>,
  { attributes, excluded }: Selection,
) {
  const source = resource as Attributes;
  if (attributes === undefined) {
    const rest = structuredClone(source);
    for (const name of excluded) remove(rest, pathOf(type, name));
    return rest as AnswerOf<typeof ScimResource>;
  }
  const result: Attributes = { schemas: source.schemas, id: source.id };
  for (const name of attributes) copy(source, result, pathOf(type, name));
  return result as AnswerOf<typeof ScimResource>;
}

const ALWAYS: ReadonlySet<string> = new Set(["schemas", "id"]);

/** Names of the properties at the path of an attribute. */
function pathOf(type: ResourceType, text: string): string[] {
  const lower = text.toLowerCase();
  const extension = type.extensions.find(
    ({ id }) => lower === id.toLowerCase() || lower.startsWith(`${id.toLowerCase()}:`),
  );
  if (extension !== undefined && lower.length === extension.id.length) return [extension.id];
  const [name = "", sub] = (/^urn:/i.test(text) ? text.slice(text.lastIndexOf(":") + 1) : text).split(".");
  const attribute = findAttribute(attributesOf(type, extension?.id), name);
  const subAttribute = sub === undefined ? undefined : findAttribute(attribute?.subAttributes ?? [], sub);
  return [extension?.id ?? [], attribute?.name ?? [], subAttribute?.name ?? []].flat();
}

function remove(resource: Attributes, [name, ...rest]: readonly string[]): void {
  if (name === undefined || ALWAYS.has(name)) return;
  if (rest.length === 0) {
    delete resource[name];
    return;
  }
  for (const value of [resource[name] ?? []].flat()) remove(value as Attributes, rest);
}

function copy(source: Attributes, result: Attributes, [name, ...rest]: readonly string[]): void {
  if (name === undefined || source[name] === undefined) return;
  if (rest.length === 0) {
    result[name] = source[name];
    return;
  }
  const values = [source[name]].flat() as Attributes[];
  const previous = [result[name] ?? []].flat() as Attributes[];
  const copies = values.map((value, index) => {
    const target: Attributes = { ...previous[index] };
    copy(value, target, rest);
    return target;
  });
  result[name] = Array.isArray(source[name]) ? copies : copies[0];
}

export function toScimList(
  resources: AnswerOf<typeof ScimList>["Resources"],
  total: number,
  offset: number,
): AnswerOf<typeof ScimList> {
  return {
    schemas: [LIST_SCHEMA],
    totalResults: total,
    startIndex: offset + 1,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

/** What the service can do (RFC 7643, section 5). */
export function toServiceProviderConfig(base: string): AnswerOf<typeof ScimServiceProviderConfig> {
  const no = { supported: false };
  return {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
    patch: { supported: true },
    bulk: { ...no, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: MAX_COUNT },
    changePassword: no,
    sort: no,
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "Bearer token",
        description: "An admin key, or one with the permission organization.scim.write.",
        specUri: "https://www.rfc-editor.org/info/rfc6750",
        primary: true,
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${base}/ServiceProviderConfig` },
  };
}

export function toResourceTypes(base: string): AnswerOf<typeof ScimDiscovery>[] {
  return RESOURCE_TYPES.map(({ name, endpoint, description, schema, extensions }) => ({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
    id: name,
    name,
    endpoint,
    description,
    schema: schema.id,
    schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
    meta: { resourceType: "ResourceType", location: `${base}/ResourceTypes/${name}` },
  }));
}

export function toSchemas(base: string): AnswerOf<typeof ScimDiscovery>[] {
  return SCHEMAS.map((schema) => ({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
    ...schema,
    meta: { resourceType: "Schema", location: `${base}/Schemas/${schema.id}` },
  }));
}
