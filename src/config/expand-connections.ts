/** Replaces the names of connections in deployments by their settings. */

import { ADDRESS_SETTINGS, connection as connectionSchema } from "../catalog/connection-settings.ts";
import { nearest } from "../kernel/nearest.ts";
import type { ConfigErrors } from "./config-errors.ts";
import { asMapping, listAt } from "./parse-file.ts";

const ENGINE = "openai-compatible";

/**
 * Returns the value with the settings of connections in the deployments that name them. A deployment whose connection is
 * missing or invalid is added to `unresolved`: its settings would only repeat the error.
 */
export function expandConnections(value: unknown, unresolved: WeakSet<object>, errors: ConfigErrors): unknown {
  const models = listAt(value, "models");
  if (models.every((model) => listAt(model, "deployments").every((each) => asMapping(each)?.connection === undefined)))
    return value;
  const connections = asMapping(asMapping(value)?.connections) ?? {};
  const valid = new Set(
    Object.keys(connections).filter((name) => connectionSchema.safeParse(connections[name]).success),
  );
  const expanded = models.map((model, m) => {
    const mapping = asMapping(model);
    if (mapping === undefined || !Array.isArray(mapping.deployments)) return model;
    const deployments = mapping.deployments.map((deployment: unknown, d: number) => {
      const { connection: name, ...settings } = asMapping(deployment) ?? {};
      if (name === undefined) return deployment;
      const { engine = ENGINE } = settings;
      const resolved: Record<string, unknown> = { ...settings, engine };
      const problems = problemsOf(name, resolved, connections);
      for (const [key, problem] of problems) errors.add(["models", m, "deployments", d, key], problem);
      if (engine === ENGINE && typeof name === "string" && valid.has(name)) {
        return { ...(connections[name] as object), ...resolved };
      }
      unresolved.add(resolved);
      return resolved;
    });
    return { ...mapping, deployments };
  });
  return { ...(value as object), models: expanded };
}

/** Setting and problem of each fault of a deployment that names a connection. */
function problemsOf(
  name: unknown,
  settings: Readonly<Record<string, unknown>>,
  connections: Readonly<Record<string, unknown>>,
): [key: string, problem: string][] {
  if (settings.engine !== ENGINE) return [["connection", `is a setting of the engine ${ENGINE}`]];
  const problems: [string, string][] = ADDRESS_SETTINGS.filter((key) => settings[key] !== undefined).map((key) => {
    return [key, "is set by the connection"];
  });
  if (typeof name === "string" && Object.hasOwn(connections, name)) return problems;
  const meant = typeof name === "string" ? nearest(name, Object.keys(connections)) : undefined;
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
  return [...problems, ["connection", `is not the name of an entry of connections${hint}`]];
}
