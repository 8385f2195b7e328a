import { Fault } from "../../kernel/faults.ts";

/** Runs `read`, which reads a tool; the Fault that it throws names the field within the request. */
export function withPath<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (failure) {
    if (!(failure instanceof Fault)) throw failure;
    const { code, param } = failure;
    throw new Fault(failure.kind, failure.message, { code, param: param === undefined ? path : `${path}.${param}` });
  }
}
