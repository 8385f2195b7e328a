import { describeIssue } from "./describe-issue.ts";
import { type Environment, environmentSchema } from "./environment-schema.ts";
import type { FaultList } from "./fault-list.ts";
import { nearest } from "./known-keys.ts";

type Variables = Readonly<Record<string, string | undefined>>;

export interface ReadEnvironment {
  /** Undefined when it has faults. */
  values: Environment | undefined;
  /** Set names that begin with PARLANCE_ and mean nothing. */
  unknown: readonly string[];
}

/** Checks the variables that are Parlance's; all others are none of its business. */
export function readEnvironment(variables: Variables, faults: FaultList): ReadEnvironment {
  const names = Object.keys(environmentSchema.shape);
  const set = Object.fromEntries(names.map((name) => [name, variables[name] || undefined]));
  const parsed = environmentSchema.safeParse(set, { error: describeIssue });
  for (const { path, message } of parsed.error?.issues ?? []) faults.addVariable(String(path[0]), message);
  const { PARLANCE_API_KEY: apiKey, PARLANCE_ADMIN_KEY: adminKey } = set;
  if (apiKey !== undefined && apiKey === adminKey) {
    faults.addVariable("PARLANCE_ADMIN_KEY", "must not be the same as PARLANCE_API_KEY");
  }
  const unknown = Object.keys(variables).filter((name) => name.startsWith("PARLANCE_") && !names.includes(name));
  return { values: parsed.data, unknown };
}

/** A misspelt name is a fault; one that is nothing like any may be a variable of the operator's own. */
export function refuseMisspelt(unknown: readonly string[], used: ReadonlySet<string>, faults: FaultList): void {
  const names = Object.keys(environmentSchema.shape).filter((name) => name.startsWith("PARLANCE_"));
  for (const name of unknown) {
    const meant = used.has(name)
      ? undefined
      : nearest(
          name.slice(9),
          names.map((each) => each.slice(9)),
        );
    if (meant !== undefined) faults.addVariable(name, `is not a known variable; did you mean PARLANCE_${meant}?`);
  }
}
