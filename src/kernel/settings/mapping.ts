/** Mappings of parlance.yaml: the file has snake_case keys, the code reads camelCase properties. */

import type { z } from "zod";
import { lazy } from "../lazy.ts";

type CamelCase<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Key;

/** Properties of a mapping whose keys are in snake_case. */
type CamelCased<Mapping> = {
  readonly [Key in keyof Required<Mapping> as CamelCase<Key & string>]: ReadonlyList<Mapping[Key & keyof Mapping]>;
};

type ReadonlyList<Value> = Value extends readonly (infer Element)[] ? readonly Element[] : Value;

export function toCamelCase(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Schema of a mapping that refuses further keys. Its keys are in snake_case and its output's in camelCase. */
export function mapping<Shape extends z.ZodRawShape>(build: () => Shape, description?: string) {
  const schema = lazy.strictObject(build);
  const documented = description === undefined ? schema : schema.describe(description);
  return documented.transform(toCamelCased);
}

function toCamelCased<Mapping extends object>(value: Mapping): CamelCased<Mapping> {
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [toCamelCase(key), each]),
  ) as CamelCased<Mapping>;
}
