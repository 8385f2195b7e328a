import { Fault } from "../kernel/faults.ts";
import type { Config } from "./config.ts";
import { type EffectiveSettings, isLive, mergeSettings } from "./effective-settings.ts";
import { type ConfigSources, loadConfig } from "./load-config.ts";

/** Settings that a reload applies; all others need a restart. */
const LIVE = [
  "models",
  "builtinOverrides",
  "builtinModels",
  "defaultAliases",
  "local",
  "logLevel",
  "file",
  "warnings",
] as const satisfies readonly (keyof Config)[];

export type Reloaded =
  /** `config` is the new configuration; `needsRestart` lists changed settings that keep their old value until a restart. */
  | { isAccepted: true; config: Config; needsRestart: readonly string[] }
  /** The new file is invalid and `fault` lists the errors; the old configuration stays in effect. */
  | { isAccepted: false; fault: string };

/** Loads the configuration again, as at startup. Throws only on a bug. */
export async function reloadConfig(current: Config, sources: ConfigSources): Promise<Reloaded> {
  try {
    const next = await loadConfig(sources, current);
    const live = Object.fromEntries(LIVE.map((key) => [key, next[key]])) as Pick<Config, (typeof LIVE)[number]>;
    return {
      isAccepted: true,
      config: Object.freeze({ ...current, ...live, effective: mergeSettings(current.effective, next.effective) }),
      needsRestart: fixedChanges(current.effective, next.effective),
    };
  } catch (failure) {
    if (failure instanceof Fault) return { isAccepted: false, fault: failure.message };
    throw failure;
  }
}

/** Keys of settings that changed and need a restart. Secrets come from the environment, which does not change while a process runs. */
function fixedChanges(current: EffectiveSettings, next: EffectiveSettings): string[] {
  const before = new Map(current.settings.map(({ key, value }) => [key, JSON.stringify(value)]));
  return next.settings
    .filter(({ key, value }) => !isLive(key) && before.get(key) !== JSON.stringify(value))
    .map(({ key }) => key);
}
