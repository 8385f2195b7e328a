import { invalidRequest } from "../../../kernel/faults.ts";
import { toEmailKey } from "./user-queries.ts";

/** Longest address that SMTP transports (RFC 5321, section 4.5.3.1.3, without the angle brackets). */
const MAX_LENGTH = 254;
/** One @ between two parts without spaces or control characters: whether mail arrives, only mail can tell. */
const ADDRESS = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]+$/u;

export function isEmail(value: string): boolean {
  return value.length <= MAX_LENGTH && ADDRESS.test(value);
}

/** Returns the address in lower case. Throws a Fault naming `param` for what is not an address. */
export function checkEmail(email: string, param = "email"): string {
  const address = toEmailKey(email);
  if (isEmail(address)) return address;
  throw invalidRequest(
    `'${param}' must be an e-mail address with at most ${MAX_LENGTH} characters.`,
    param,
    "invalid_value",
  );
}
