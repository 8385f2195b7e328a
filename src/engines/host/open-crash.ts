import { Fault } from "../../kernel/faults.ts";

/** The process ended while it opened its model; `reason`: the line of its output that says why, where one does. */
export class OpenCrash extends Fault {
  readonly reason: string | undefined;

  constructor(how: string, reason: string | undefined) {
    const why = reason === undefined ? "." : `: ${reason}`;
    super("unavailable", `The model's process ${how} while it was being opened${why}`, {
      code: "engine_failed",
      retryAfterSeconds: 5,
    });
    this.reason = reason;
  }
}
