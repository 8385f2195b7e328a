/** Secrets within entries: which values are secret, and how they are kept apart from the rest. */

import { invalidRequest } from "../../kernel/faults.ts";

export const REDACTED = "[redacted]";

/** Settings whose values are secret; of `headers` and `environment`, each value is. */
const SECRET_KEY = /^(proxy|.*_key|.*_token|(.*_)?(secret|password)(_.*)?)$/;

const SECRET_MAPPINGS: ReadonlySet<string | undefined> = new Set(["headers", "environment"]);

/** Settings that decide where a secret goes. */
const ADDRESS_KEYS = ["base_url", "command", "endpoints", "issuer", "openapi", "proxy", "tls", "url"] as const;

/** Secrets by their path, such as `deployments/0/api_key`. */
export type Secrets = Readonly<Record<string, string>>;

export interface SplitValue {
  /** The value with `[redacted]` in place of its secrets. */
  open: unknown;
  secrets: Secrets;
}

export function splitSecrets(value: unknown): SplitValue {
  const secrets: Record<string, string> = {};
  const open = mapSecrets(value, [], (secret, path) => {
    secrets[path.join("/")] = secret;
    return REDACTED;
  });
  return { open, secrets };
}

/** Returns the value with its secrets. */
export function joinSecrets(open: unknown, secrets: Secrets): unknown {
  return mapSecrets(open, [], (shown, path) => (shown === REDACTED ? (secrets[path.join("/")] ?? shown) : shown));
}

/**
 * Returns a new value in which each `[redacted]` stands for the stored secret at the same place. Throws a Fault where there
 * is none, and where the secret would go to another address than the one that it was given for.
 */
export function keepSecrets(value: unknown, stored: SplitValue | undefined): unknown {
  return mapSecrets(value, [], (shown, path) => {
    if (shown !== REDACTED) return shown;
    const field = path.join(".");
    const secret = stored?.secrets[path.join("/")];
    if (secret === undefined) {
      throw invalidRequest(`'${field}' is ${REDACTED}, and no secret is stored for it. Send the secret.`, field);
    }
    const around = path.slice(0, SECRET_MAPPINGS.has(path.at(-2)) ? -2 : -1);
    const before = at(stored?.open, around);
    const after = at(splitSecrets(at(value, around)).open, []);
    const moved = ADDRESS_KEYS.find((key) => JSON.stringify(at(before, [key])) !== JSON.stringify(at(after, [key])));
    if (moved !== undefined) {
      throw invalidRequest(
        `Send '${field}' again: '${moved}' has changed, and a stored secret stays at its address.`,
        field,
      );
    }
    return secret;
  });
}

type Path = readonly string[];

function mapSecrets(value: unknown, path: Path, map: (secret: string, path: Path) => string): unknown {
  if (Array.isArray(value)) return value.map((item, index) => mapSecrets(item, [...path, String(index)], map));
  if (typeof value !== "object" || value === null) return value;
  const isSecretMapping = SECRET_MAPPINGS.has(path.at(-1));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isSecret = typeof inner === "string" && (isSecretMapping || SECRET_KEY.test(key));
      return [key, isSecret ? map(inner, [...path, key]) : mapSecrets(inner, [...path, key], map)];
    }),
  );
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | null | undefined)?.[key], value);
}
