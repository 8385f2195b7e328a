import { z } from "zod";

export const names = z.registry<{ id: string }>();

/** Gives a schema a name, under which the document contains it once. */
export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  names.add(schema, { id });
  return schema;
}

/** What encoders return for an answer's schema. */
export type AnswerOf<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

type DeepReadonly<Value> = Value extends object ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> } : Value;
