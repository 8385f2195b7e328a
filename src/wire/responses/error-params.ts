import { Fault } from "../../kernel/faults.ts";
import { type ParamNames, throwRenamed } from "../rename-params.ts";

const PARAMS: ParamNames = [
  // The index of a message is not that of an item: instructions and stored items come first, and calls are merged.
  [/^(messages|context)\b.*/, "input"],
  [/^response_format\b.*/, "text.format"],
  [/^(top_)?logprobs$/, "top_logprobs"],
  [/^reasoning_effort$/, "reasoning.effort"],
  [/^max_(completion_)?tokens$/, "max_output_tokens"],
];

/** Throws the failure of a model as one of the Responses API. A field that the body has keeps its name. */
export function throwForResponses(failure: unknown, body: object): never {
  if (failure instanceof Fault && Object.hasOwn(body, failure.param ?? "")) throw failure;
  return throwRenamed(failure, PARAMS);
}
