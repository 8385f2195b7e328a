/** Chooses the built-in models that stand for their tasks on this machine, and those to download for that. */

import { availableParallelism } from "node:os";
import { defaultMemoryBudget } from "../kernel/process/available-memory.ts";
import type { Settings } from "../kernel/settings/settings.ts";
import type { BundledModel } from "../model-store/manifest/bundled-model.ts";
import type { ManifestEntry } from "../model-store/manifest/manifest-entry.ts";

const AUTO = "auto";

/** Tasks whose model depends on the machine, and the setting of `local` that names it. */
const SETTINGS = {
  chat: "defaultChatModel",
  speech: "defaultSpeechModel",
  moderation: "defaultModerationModel",
} as const;

type ChoosingTask = keyof typeof SETTINGS;
const TASKS = Object.keys(SETTINGS) as ChoosingTask[];

type ModelChoices = Pick<Settings, "local" | "models" | "builtinModels" | "environment">;
type Choosable = Pick<ManifestEntry, "id" | "task" | "preferredOn" | "memoryBytes">;

/** What does not change while the service runs. */
export interface Machine {
  cores: number;
  /** Memory that local models may use together. */
  budgetBytes: number;
}

export function thisMachine({ local }: Pick<Settings, "local">): Machine {
  return { cores: availableParallelism(), budgetBytes: local.memory ?? defaultMemoryBudget() };
}

/** IDs of the models to list first among those of their task; a task without one keeps the manifest's order. */
export function modelsToListFirst(
  { local }: Pick<Settings, "local">,
  present: readonly Choosable[],
  machine: Machine,
): readonly string[] {
  return TASKS.flatMap((task) => {
    const ofTask = present.filter((model) => model.task === task);
    const id = local[SETTINGS[task]];
    const chosen = id === AUTO ? preferred(ofTask, machine)[0] : ofTask.find((model) => model.id === id);
    return chosen === undefined ? [] : [chosen.id];
  });
}

/** The models to download after the start: none that the machine, the configuration or CI rules out. */
export function modelsToDownload(
  config: ModelChoices,
  pulled: ReadonlySet<string>,
  { manifest, bundled }: { manifest: readonly ManifestEntry[]; bundled: readonly BundledModel[] },
  machine: Machine & { freeBytes: number },
): readonly ManifestEntry[] {
  if (!config.builtinModels || config.environment.CI) return [];
  const candidates = TASKS.map((task) => {
    const id = config.local[SETTINGS[task]];
    if (id === AUTO) return automatic(task, config.models, manifest, machine);
    const files = bundled.find((model) => model.id === id)?.requires ?? id;
    return manifest.find((model) => model.id === files);
  });
  // A default model is downloaded by its own deployment, before the service is ready.
  return [...new Set(candidates)].filter(
    (model): model is ManifestEntry => model !== undefined && !model.isDefault && !pulled.has(model.id),
  );
}

/** An installation that configures models of the task has its own, so it gets no other. */
function automatic(
  task: ChoosingTask,
  configured: ModelChoices["models"],
  manifest: readonly ManifestEntry[],
  machine: Machine & { freeBytes: number },
): ManifestEntry | undefined {
  if (configured.some((model) => model.task === task)) return undefined;
  const ofTask = manifest.filter((model) => model.task === task);
  return preferred(ofTask, machine).find(
    ({ preferredOn, memoryBytes = 0 }) =>
      machine.freeBytes >= (preferredOn?.freeBytes ?? 0) && machine.budgetBytes >= memoryBytes,
  );
}

/** The models that are preferred to the manifest's default on such a machine, the best first. */
function preferred<Model extends Choosable>(models: readonly Model[], machine: Machine): Model[] {
  return models
    .filter(
      ({ preferredOn: on }) =>
        on !== undefined && machine.cores >= (on.cores ?? 1) && machine.budgetBytes >= (on.budgetBytes ?? 0),
    )
    .sort((a, b) => (b.preferredOn?.freeBytes ?? 0) - (a.preferredOn?.freeBytes ?? 0));
}
