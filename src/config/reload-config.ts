import { Fault } from "../kernel/faults.ts";
import type { Config } from "./config.ts";
import { isLive, type SettingsInForce } from "./effective-settings.ts";
import { type EntryStatus, type Layer, NO_LAYER } from "./layer.ts";
import { type ConfigSources, layConfig, loadConfig } from "./load-config.ts";

/** Settings that a reload applies; all others need a restart. */
const LIVE = [
  "models",
  "builtinOverrides",
  "builtinModels",
  "configuration",
  "connections",
  "defaultAliases",
  "guardrails",
  "local",
  "logLevel",
  "mcpServers",
  "mcpToolsets",
  "prices",
  "webhooks",
  "file",
  "read",
  "layer",
  "warnings",
] as const satisfies readonly (keyof Config)[];

export type Reloaded =
  /** `config` is the new configuration; `needsRestart` lists changed settings that keep their old value until a restart. */
  | { isAccepted: true; config: Config; needsRestart: readonly string[] }
  /** The new file is invalid and `fault` lists the errors; the old configuration stays in effect. */
  | { isAccepted: false; fault: string };

/**
 * Loads the configuration again, as at startup, with the entries of the API. Refuses a file that would invalidate entries
 * that are in force. Throws only on a bug.
 */
export async function reloadConfig(
  current: Config,
  sources: ConfigSources,
  layer: Layer = NO_LAYER,
): Promise<Reloaded> {
  try {
    const next = await loadConfig(sources, current, layer);
    const broken = newlyInvalid(current, next);
    if (broken.length > 0) {
      const lines = broken.map(({ kind, name, problem }) => `  ${kind} ${JSON.stringify(name)}: ${problem}`);
      const fault = ["The file does not fit what was configured through the API:", ...lines].join("\n");
      return { isAccepted: false, fault };
    }
    return {
      isAccepted: true,
      config: merge(current, next),
      needsRestart: fixedChanges(current.effective, next.effective),
    };
  } catch (failure) {
    if (failure instanceof Fault) return { isAccepted: false, fault: failure.message };
    throw failure;
  }
}

/** Returns the current configuration with other entries of the API, over the file as it was read last. */
export function withLayer(current: Config, sources: ConfigSources, layer: Layer): Config {
  return merge(current, layConfig(sources, current.read, layer));
}

/** Entries that are invalid in `next`, though not in `current`. */
export function newlyInvalid(current: Config, next: Config): EntryStatus[] {
  const before = new Set(current.layer.entries.filter(({ status }) => status === "invalid").map(keyOf));
  return next.layer.entries.filter((entry) => entry.status === "invalid" && !before.has(keyOf(entry)));
}

function keyOf({ kind, name }: EntryStatus): string {
  return `${kind} ${name}`;
}

function merge(current: Config, next: Config): Config {
  const live = Object.fromEntries(LIVE.map((key) => [key, next[key]])) as Pick<Config, (typeof LIVE)[number]>;
  const { projectModel, organization, key, user } = next.limits;
  const limits = Object.freeze({ ...current.limits, projectModel, organization, key, user });
  return Object.freeze({ ...current, ...live, limits, effective: current.effective.replacedBy(next.effective) });
}

/** Keys of settings that changed and need a restart. Secrets come from the environment, which does not change while a process runs. */
function fixedChanges(current: SettingsInForce, next: SettingsInForce): string[] {
  const before = new Map(current.list().settings.map(({ key, value }) => [key, JSON.stringify(value)]));
  return next
    .list()
    .settings.filter(({ key, value }) => !isLive(key) && before.get(key) !== JSON.stringify(value))
    .map(({ key }) => key);
}
