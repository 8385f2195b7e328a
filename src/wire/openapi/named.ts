import { z } from "zod";

export const names = z.registry<{ id: string }>();

/** Gives a schema a name, under which the document contains it once. */
export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  names.add(schema, { id });
  return schema;
}

const families = new Map<string, z.ZodType>();

/** Returns the member of a family of schemas, such as pages or deletions, that has this name; builds it the first time. */
export function memberOf<Schema extends z.ZodType>(id: string, build: () => Schema): Schema {
  const member = families.get(id) ?? named(id, build());
  families.set(id, member);
  return member as Schema;
}

/** `organization.project` → `OrganizationProject` */
export function toComponentName(object: string): string {
  return object.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** What encoders return for an answer's schema. */
export type AnswerOf<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

type DeepReadonly<Value> = Value extends object ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> } : Value;
