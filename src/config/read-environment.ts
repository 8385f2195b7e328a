import { nearest } from "../kernel/nearest.ts";
import type { ConfigErrors } from "./config-errors.ts";
import { describeIssue } from "./describe-issue.ts";
import { type Environment, environmentSchema } from "./environment-schema.ts";

type Variables = Readonly<Record<string, string | undefined>>;

export interface ReadEnvironment {
  /** Undefined if a variable is invalid. */
  values: Environment | undefined;
  /** Variables that begin with PARLANCE_ but are not known. */
  unknown: readonly string[];
}

/** Validates the variables that Parlance reads; ignores all others. */
export function readEnvironment(variables: Variables, errors: ConfigErrors): ReadEnvironment {
  const names = Object.keys(environmentSchema.shape);
  const set = Object.fromEntries(names.map((name) => [name, variables[name] || undefined]));
  const parsed = environmentSchema.safeParse(set, { error: describeIssue });
  for (const { path, message } of parsed.error?.issues ?? []) errors.addVariable(String(path[0]), message);
  const { PARLANCE_API_KEY: apiKey, PARLANCE_ADMIN_KEY: adminKey } = set;
  if (apiKey !== undefined && apiKey === adminKey) {
    errors.addVariable("PARLANCE_ADMIN_KEY", "must not be the same as PARLANCE_API_KEY");
  }
  const unknown = Object.keys(variables).filter((name) => name.startsWith("PARLANCE_") && !names.includes(name));
  return { values: parsed.data, unknown };
}

/** Rejects misspelled names. An unknown name unlike any known one may be the operator's own variable. */
export function rejectMisspelled(unknown: readonly string[], used: ReadonlySet<string>, errors: ConfigErrors): void {
  const names = Object.keys(environmentSchema.shape).filter((name) => name.startsWith("PARLANCE_"));
  for (const name of unknown) {
    const meant = used.has(name)
      ? undefined
      : nearest(
          name.slice(9),
          names.map((each) => each.slice(9)),
        );
    if (meant !== undefined) errors.addVariable(name, `is not a known variable; did you mean PARLANCE_${meant}?`);
  }
}
