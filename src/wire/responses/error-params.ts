/** Renames the fields that errors of models name, which are those of chat completions. */

import { Fault } from "../../faults.ts";

const PARAMS: readonly (readonly [pattern: RegExp, param: string])[] = [
  // The index of a message is not that of an item: instructions and stored items come first, and calls are merged.
  [/^(messages|context)\b.*/, "input"],
  [/^response_format\b.*/, "text.format"],
  [/^(top_)?logprobs$/, "top_logprobs"],
  [/^reasoning_effort$/, "reasoning.effort"],
  [/^max_(completion_)?tokens$/, "max_output_tokens"],
];

/** Throws the failure of a model as one of the Responses API. */
export function throwForResponses(failure: unknown): never {
  if (!(failure instanceof Fault) || failure.param === undefined) throw failure;
  const { param } = failure;
  const [, renamed = param] = PARAMS.find(([pattern]) => pattern.test(param)) ?? [];
  if (renamed === param) throw failure;
  const fault = new Fault(failure.kind, failure.message, { ...failure, cause: failure.cause, param: renamed });
  fault.stack = failure.stack;
  throw fault;
}
