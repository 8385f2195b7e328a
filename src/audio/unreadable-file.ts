import { Fault, invalidRequest } from "../faults.ts";

/** A file that one decoder does not read; another may. */
export class UnreadableFile extends Fault {
  constructor(message: string) {
    super("invalid-request", message, { param: "file", code: "invalid_value" });
  }
}

export function tooLong(maxSeconds: number): Fault {
  return invalidRequest(
    `The audio is longer than ${maxSeconds} seconds, the longest that is taken.`,
    "file",
    "invalid_value",
  );
}
