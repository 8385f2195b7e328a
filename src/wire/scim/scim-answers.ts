/** Schemas of SCIM's resources, made from the table of their attributes, and of what the service can do. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { describedBy } from "../openapi/described-by.ts";
import { named } from "../openapi/named.ts";
import { type Attribute, GROUP_TYPE, type ResourceType, USER_TYPE } from "./attributes.ts";

const schemas = listOf(z.string());
const meta = lazy.object(() => ({
  resourceType: z.string(),
  created: z.string().optional(),
  location: z.string(),
  version: z.string().optional().describe("ETag, for `If-Match` and `If-None-Match`."),
}));

type Shape = Record<string, z.ZodType>;

function shapeOf(attributes: readonly Attribute[]): Shape {
  return Object.fromEntries(
    attributes.map((attribute) => [attribute.name, schemaOf(attribute).optional().describe(attribute.description)]),
  );
}

function schemaOf({ type, subAttributes, multiValued }: Attribute): z.ZodType {
  if (multiValued) return z.array(schemaOf({ type, subAttributes, multiValued: false } as Attribute));
  if (subAttributes !== undefined) return z.looseObject(shapeOf(subAttributes));
  return type === "boolean" ? z.boolean() : z.string();
}

/** Attributes of a resource, which clients may leave out and may ask for one by one. */
function attributesShape({ schema, extensions }: ResourceType): Shape {
  return {
    schemas: schemas.optional(),
    externalId: z.string().optional().describe("ID that the client gave."),
    ...shapeOf(schema.attributes),
    ...Object.fromEntries(
      extensions.map(({ id, description, attributes }) => [
        id,
        z.looseObject(shapeOf(attributes)).optional().describe(description),
      ]),
    ),
  };
}

function resourceOf(type: ResourceType) {
  return lazy.looseObject(() => ({ ...attributesShape(type), schemas, id: z.string(), meta: meta.optional() }));
}

const ScimUser = named("ScimUser", resourceOf(USER_TYPE));
const ScimGroup = named("ScimGroup", resourceOf(GROUP_TYPE));

export const ScimResource = named("ScimResource", z.union([ScimUser, ScimGroup]));

const bodies = z.union([
  named(
    "ScimUserBody",
    lazy.looseObject(() => attributesShape(USER_TYPE)),
  ),
  named(
    "ScimGroupBody",
    lazy.looseObject(() => attributesShape(GROUP_TYPE)),
  ),
]);

export const ScimBody = named("ScimBody", describedBy(z.looseObject({ schemas: schemas.optional() }), bodies));

const supported = lazy.object(() => ({ supported: z.boolean() }));

export const ScimServiceProviderConfig = named(
  "ScimServiceProviderConfig",
  lazy.object(() => ({
    schemas,
    patch: supported,
    bulk: z.object({ supported: z.boolean(), maxOperations: z.int(), maxPayloadSize: z.int() }),
    filter: z.object({ supported: z.boolean(), maxResults: z.int() }),
    changePassword: supported,
    sort: supported,
    etag: supported,
    authenticationSchemes: z.array(
      z.object({
        type: z.string(),
        name: z.string(),
        description: z.string(),
        specUri: z.string(),
        primary: z.boolean(),
      }),
    ),
    meta,
  })),
);

const ScimResourceType = named(
  "ScimResourceType",
  lazy.object(() => ({
    schemas,
    id: z.string(),
    name: z.string(),
    endpoint: z.string(),
    description: z.string(),
    schema: z.string(),
    schemaExtensions: z.array(z.object({ schema: z.string(), required: z.boolean() })),
    meta,
  })),
);

const attribute = {
  name: z.string(),
  type: z.enum(["string", "boolean", "complex", "reference"]),
  description: z.string(),
  multiValued: z.boolean(),
  required: z.boolean(),
  caseExact: z.boolean(),
  mutability: z.enum(["readWrite", "readOnly"]),
  returned: z.literal("default"),
  uniqueness: z.enum(["none", "server"]),
  canonicalValues: z.array(z.string()).optional(),
  referenceTypes: z.array(z.string()).optional(),
};

const ScimSchema = named(
  "ScimSchema",
  lazy.object(() => ({
    schemas,
    id: z.string(),
    name: z.string(),
    description: z.string(),
    attributes: z.array(z.object({ ...attribute, subAttributes: z.array(z.object(attribute)).optional() })),
    meta,
  })),
);

/** A resource type or a schema. */
export const ScimDiscovery = named("ScimDiscovery", z.union([ScimResourceType, ScimSchema]));

export const ScimList = named(
  "ScimList",
  lazy.object(() => ({
    schemas,
    totalResults: z.int(),
    startIndex: z.int().optional(),
    itemsPerPage: z.int().optional(),
    Resources: z.array(z.union([ScimUser, ScimGroup, ScimResourceType, ScimSchema])),
  })),
);

export const ScimErrorAnswer = named(
  "ScimError",
  lazy.object(() => ({ schemas, status: z.string(), scimType: z.string().optional(), detail: z.string() })),
);
