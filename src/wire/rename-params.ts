/** Renames the fields that errors of models name, which are those of chat completions. */

import { Fault } from "../kernel/faults.ts";

export type ParamNames = readonly (readonly [pattern: RegExp, param: string])[];

/** Throws the failure of a model with the field that the caller's format has. */
export function throwRenamed(failure: unknown, names: ParamNames): never {
  if (!(failure instanceof Fault) || failure.param === undefined) throw failure;
  const { param } = failure;
  const [, renamed = param] = names.find(([pattern]) => pattern.test(param)) ?? [];
  if (renamed === param) throw failure;
  const fault = new Fault(failure.kind, failure.message, { ...failure, cause: failure.cause, param: renamed });
  fault.stack = failure.stack;
  throw fault;
}
