/** Failures of requests that name a stored response. */

import { Fault, invalidRequest } from "../../kernel/faults.ts";

function shown(id: string): string {
  return id.length <= 100 ? id : `${id.slice(0, 100)}…`;
}

export function responseNotFound(id: string): Fault {
  return new Fault("not-found", `There is no response \`${shown(id)}\`.`);
}

export function previousResponseNotFound(id: string): Fault {
  const message = `There is no response \`${shown(id)}\` to continue from. It was not stored, was deleted or has expired.`;
  return new Fault("not-found", message, { param: "previous_response_id", code: "previous_response_not_found" });
}

export function notEnded(id: string): Fault {
  const message = `The response \`${shown(id)}\` is not complete yet. Wait until its status is completed.`;
  return invalidRequest(message, "previous_response_id", "invalid_value");
}

export function chainTooLong(maxLength: number): Fault {
  const message = `A response can continue from at most ${maxLength} responses. Start a new chain of responses.`;
  return invalidRequest(message, "previous_response_id", "context_length_exceeded");
}
