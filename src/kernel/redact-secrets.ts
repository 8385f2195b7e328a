/** Removes secrets of the service from what others send. */

const SHORTEST_SECRET = 4;

/**
 * Returns what removes these secrets from a text, also without a scheme such as `Bearer`. Values below `SHORTEST_SECRET`
 * characters stay, since they match by accident.
 */
export function secretRedactor(secrets: readonly string[]): (text: string) => string {
  const values = secrets
    .flatMap((value) => [value, value.replace(/^\w+ /, "")])
    .filter((value) => value.length >= SHORTEST_SECRET);
  return (text) => values.reduce((redacted, value) => redacted.replaceAll(value, "[redacted]"), text);
}

/** Headers and variables with such names hold secrets; `x-tenant` or `LOG_LEVEL` would remove ordinary words. */
const SECRET_NAME = /auth|cookie|credential|key|pass|pwd|secret|token/i;

/** Returns the values of headers or variables that hold secrets, by their names. */
export function secretsIn(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
}
