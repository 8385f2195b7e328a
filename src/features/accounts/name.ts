import { invalidRequest } from "../../kernel/faults.ts";

const MAX_LENGTH = 256;

/** Returns `name` trimmed. Throws a Fault naming `param` when it is empty, too long or not one line of text. */
export function checkName(name: string, param = "name"): string {
  const trimmed = name.trim();
  const length = [...trimmed].length;
  if (length === 0) throw invalidRequest(`'${param}' must not be empty.`, param, "invalid_value");
  if (length > MAX_LENGTH) {
    const message = `'${param}' is too long: at most ${MAX_LENGTH} characters, not ${length}.`;
    throw invalidRequest(message, param, "invalid_value");
  }
  // Cc: control characters; Cs: halves of characters, which no database can store; Zl, Zp: line separators.
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(trimmed)) {
    throw invalidRequest(`'${param}' must be one line of text without control characters.`, param, "invalid_value");
  }
  return trimmed;
}
