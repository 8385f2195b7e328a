import type { FaultList, Path } from "./fault-list.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `$${` stands for `${`; otherwise everything up to the next brace is the name. */
const REFERENCE = /\$\$\{|\$\{([^}]*)\}?/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const HOW_TO_ESCAPE = "write $${ for a plain ${";
const NOT_A_NAME = `holds braces after a $ with no variable's name in them; ${HOW_TO_ESCAPE}`;
const NOT_CLOSED = `holds a variable without its closing brace; ${HOW_TO_ESCAPE}`;

/** Anchors can make a value hold itself; no configuration is this deep. */
const MAX_DEPTH = 32;

export interface Substituted {
  value: unknown;
  /** Every name that the file refers to. */
  names: ReadonlySet<string>;
}

/**
 * Puts variables in place of `${NAME}` in string values: not in keys, and after parsing, so that a value is never read
 * as YAML. A variable that is not set is a fault at its path.
 */
export function substituteVariables(root: unknown, environment: Environment, faults: FaultList): Substituted {
  const names = new Set<string>();
  return { value: walk(root, []), names };

  function walk(value: unknown, path: Path): unknown {
    if (typeof value === "string") return expand(value, path);
    if (typeof value !== "object" || value === null) return value;
    if (path.length >= MAX_DEPTH) {
      faults.add(path.slice(0, 1), `is nested more than ${MAX_DEPTH} levels deep`);
      return undefined;
    }
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index]));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item, [...path, key])]));
  }

  function expand(text: string, path: Path): string {
    return text.replace(REFERENCE, (whole, name: string | undefined) => {
      if (name === undefined) return "${";
      if (!NAME.test(name) || !whole.endsWith("}")) {
        faults.add(path, whole.endsWith("}") ? NOT_A_NAME : NOT_CLOSED);
        return whole;
      }
      names.add(name);
      const value = environment[name];
      if (value === undefined) faults.add(path, `needs the environment variable ${name}, which is not set`);
      else faults.hide(value, whole);
      return value ?? whole;
    });
  }
}
