/** Attributes of SCIM resources (RFC 7643), from which the schemas are published and input is checked. */

export interface Attribute {
  name: string;
  type: "string" | "boolean" | "complex" | "reference";
  description: string;
  multiValued: boolean;
  required: boolean;
  caseExact: boolean;
  mutability: "readWrite" | "readOnly";
  returned: "default";
  uniqueness: "none" | "server";
  canonicalValues?: readonly string[];
  referenceTypes?: readonly string[];
  subAttributes?: readonly Attribute[];
}

export interface Schema {
  id: string;
  name: string;
  description: string;
  attributes: readonly Attribute[];
}

export interface ResourceType {
  name: "User" | "Group";
  endpoint: "/Users" | "/Groups";
  description: string;
  schema: Schema;
  extensions: readonly Schema[];
}

type Details = Partial<Omit<Attribute, "name" | "description">>;

function attribute(name: string, description: string, details: Details = {}): Attribute {
  return {
    name,
    type: details.subAttributes === undefined ? "string" : "complex",
    description,
    multiValued: false,
    required: false,
    caseExact: false,
    mutability: "readWrite",
    returned: "default",
    uniqueness: "none",
    ...details,
  };
}

const USER_SCHEMA: Schema = {
  id: "urn:ietf:params:scim:schemas:core:2.0:User",
  name: "User",
  description: "A person of the organization.",
  attributes: [
    attribute("userName", "Name by which the client finds the user; unique, regardless of case.", {
      required: true,
      uniqueness: "server",
    }),
    attribute("name", "Parts of the person's name.", {
      subAttributes: [
        attribute("formatted", "The entire name."),
        attribute("familyName", "Last name."),
        attribute("givenName", "First name."),
        attribute("middleName", "Middle names."),
        attribute("honorificPrefix", "Title before the name."),
        attribute("honorificSuffix", "Suffix after the name."),
      ],
    }),
    attribute("displayName", "Name that the console shows; without it, the one of `name`."),
    attribute("title", "Job title."),
    attribute("userType", "Relation to the organization, such as Employee or Contractor."),
    attribute("preferredLanguage", "Preferred languages, such as en-US."),
    attribute("locale", "Locale for dates and numbers."),
    attribute("timezone", "Time zone, such as Europe/Berlin."),
    attribute("active", "False: sessions and keys of the user do not work.", { type: "boolean", required: true }),
    attribute("emails", "E-mail addresses. The primary one, or else the one for work, is that of sign-on.", {
      required: true,
      multiValued: true,
      subAttributes: [
        attribute("value", "The address.", { required: true }),
        attribute("type", "Purpose.", { canonicalValues: ["work", "home", "other"] }),
        attribute("primary", "True for at most one address.", { type: "boolean" }),
        attribute("display", "Text that is shown instead of the address."),
      ],
    }),
    attribute("groups", "Groups of the user.", {
      multiValued: true,
      mutability: "readOnly",
      subAttributes: [
        attribute("value", "ID of the group.", { mutability: "readOnly", caseExact: true }),
        attribute("$ref", "Address of the group.", {
          type: "reference",
          referenceTypes: ["Group"],
          mutability: "readOnly",
          caseExact: true,
        }),
        attribute("display", "Name of the group.", { mutability: "readOnly" }),
      ],
    }),
  ],
};

const ENTERPRISE_SCHEMA: Schema = {
  id: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User",
  name: "EnterpriseUser",
  description: "Place of a person in a company.",
  attributes: [
    attribute("employeeNumber", "Number of the employee."),
    attribute("costCenter", "Cost center."),
    attribute("organization", "Organization."),
    attribute("division", "Division."),
    attribute("department", "Department."),
  ],
};

const GROUP_SCHEMA: Schema = {
  id: "urn:ietf:params:scim:schemas:core:2.0:Group",
  name: "Group",
  description: "A group of users, to which roles can be given.",
  attributes: [
    attribute("displayName", "Name of the group; unique, regardless of case.", {
      required: true,
      uniqueness: "server",
    }),
    attribute("members", "Users of the group. Groups cannot be members.", {
      multiValued: true,
      subAttributes: [
        attribute("value", "ID of the user.", { caseExact: true }),
        attribute("$ref", "Address of the user.", { type: "reference", referenceTypes: ["User"], caseExact: true }),
        attribute("type", "User.", { canonicalValues: ["User"] }),
      ],
    }),
  ],
};

export const USER_TYPE: ResourceType = {
  name: "User",
  endpoint: "/Users",
  description: "Users of the organization.",
  schema: USER_SCHEMA,
  extensions: [ENTERPRISE_SCHEMA],
};

export const GROUP_TYPE: ResourceType = {
  name: "Group",
  endpoint: "/Groups",
  description: "Groups of the organization.",
  schema: GROUP_SCHEMA,
  extensions: [],
};

export const SCHEMAS: readonly Schema[] = [USER_SCHEMA, ENTERPRISE_SCHEMA, GROUP_SCHEMA];
export const RESOURCE_TYPES: readonly ResourceType[] = [USER_TYPE, GROUP_TYPE];

/** Attributes of every resource, which schemas do not list (RFC 7643, section 3.1). */
const COMMON_ATTRIBUTES: readonly Attribute[] = [
  attribute("externalId", "ID that the client gave.", { caseExact: true }),
  attribute("id", "ID of the resource.", { mutability: "readOnly", caseExact: true }),
  attribute("schemas", "Schemas of the resource.", { multiValued: true, mutability: "readOnly" }),
  attribute("meta", "Type, time and version of the resource.", {
    mutability: "readOnly",
    subAttributes: [
      attribute("resourceType", "Type.", { mutability: "readOnly" }),
      attribute("created", "Time of creation.", { mutability: "readOnly" }),
      attribute("location", "Address.", { mutability: "readOnly" }),
      attribute("version", "ETag.", { mutability: "readOnly", caseExact: true }),
    ],
  }),
];

/** Attributes of a type in the core, and those of each extension by the extension's schema. */
export function attributesOf(type: ResourceType, extension?: string): readonly Attribute[] {
  if (extension !== undefined) return type.extensions.find(({ id }) => id === extension)?.attributes ?? [];
  return [...COMMON_ATTRIBUTES, ...type.schema.attributes];
}

/** Finds an attribute by name, regardless of case. */
export function findAttribute(attributes: readonly Attribute[], name: string): Attribute | undefined {
  const key = name.toLowerCase();
  return attributes.find((each) => each.name.toLowerCase() === key);
}
