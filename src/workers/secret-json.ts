/** JSON that keeps secrets, for the private channel between the processes of one service. Never for a log or a file. */

import { Secret } from "../kernel/secret.ts";

const SECRET = "$secret";

export function toJsonWithSecrets(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, encoded: unknown) {
    // `encoded` is what Secret's toJSON returns.
    const original = this[key];
    return original instanceof Secret ? { [SECRET]: original.reveal() } : encoded;
  });
}

export function fromJsonWithSecrets<Value>(json: string): Value {
  return JSON.parse(json, (_key, value: unknown) => {
    const isSecret = typeof value === "object" && value !== null && SECRET in value && Object.keys(value).length === 1;
    return isSecret ? new Secret(String(value[SECRET])) : value;
  }) as Value;
}
