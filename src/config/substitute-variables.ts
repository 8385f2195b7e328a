import type { ConfigErrors, Path } from "./config-errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `$${` escapes `${`; otherwise everything up to the next brace is the name. */
const REFERENCE = /\$\$\{|\$\{([^}]*)\}?/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const HOW_TO_ESCAPE = "write $${ for a literal ${";
const NOT_A_NAME = `contains \${…} without a valid variable name; ${HOW_TO_ESCAPE}`;
const NOT_CLOSED = `contains \${ without a closing brace; ${HOW_TO_ESCAPE}`;

/** Anchors can make a value contain itself; no valid configuration is this deep. */
const MAX_DEPTH = 32;

export interface Substituted {
  value: unknown;
  /** Names of all variables that the file refers to. */
  names: ReadonlySet<string>;
}

/**
 * Replaces `${NAME}` in string values (not in keys), after parsing, so that a variable's value is never parsed as YAML.
 * Reports a variable that is not set at its path.
 */
export function substituteVariables(root: unknown, environment: Environment, errors: ConfigErrors): Substituted {
  const names = new Set<string>();
  return { value: walk(root, []), names };

  function walk(value: unknown, path: Path): unknown {
    if (typeof value === "string") return expand(value, path);
    if (typeof value !== "object" || value === null) return value;
    if (path.length >= MAX_DEPTH) {
      errors.add(path.slice(0, 1), `is nested more than ${MAX_DEPTH} levels deep`);
      return undefined;
    }
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index]));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item, [...path, key])]));
  }

  function expand(text: string, path: Path): string {
    return text.replace(REFERENCE, (match, name: string | undefined) => {
      if (name === undefined) return "${";
      const problem = problemOf(match, name);
      if (problem !== undefined) {
        errors.add(path, problem);
        return match;
      }
      names.add(name);
      const value = environment[name];
      if (value === undefined) errors.add(path, `refers to the environment variable ${name}, which is not set`);
      else errors.redact(value, match);
      return value ?? match;
    });
  }
}

function problemOf(reference: string, name: string): string | undefined {
  if (!reference.endsWith("}")) return NOT_CLOSED;
  return NAME.test(name) ? undefined : NOT_A_NAME;
}
