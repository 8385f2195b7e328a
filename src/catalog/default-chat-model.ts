/** Chooses the built-in chat model that is listed first, and the one to download for it. */

import type { Settings } from "../kernel/settings/settings.ts";
import type { ManifestEntry } from "../model-store/manifest/manifest-entry.ts";

const AUTO = "auto";

type ChatModelConfig = Pick<Settings, "local" | "models" | "builtinModels" | "environment">;

/** Returns the model to list first; undefined: the manifest's order. */
export function defaultChatModel(
  { local }: ChatModelConfig,
  pulled: ReadonlySet<string>,
  manifest: readonly ManifestEntry[],
): string | undefined {
  const candidates =
    local.defaultChatModel === AUTO ? preferred(manifest).map(({ id }) => id) : [local.defaultChatModel];
  return candidates.find((id) => pulled.has(id));
}

/** Returns the model to download after the start; undefined: the machine, the configuration or CI rules it out. */
export function chatModelToDownload(
  { local, models, builtinModels, environment }: ChatModelConfig,
  pulled: ReadonlySet<string>,
  manifest: readonly ManifestEntry[],
  memory: { freeBytes: number; budgetBytes: number },
): ManifestEntry | undefined {
  if (!builtinModels || environment.CI) return undefined;
  const requestedModel =
    local.defaultChatModel === AUTO
      ? automatic(models, manifest, memory)
      : manifest.find(({ id }) => id === local.defaultChatModel);
  // A default model is downloaded by its own deployment, before the service is ready.
  return requestedModel === undefined || requestedModel.isDefault || pulled.has(requestedModel.id)
    ? undefined
    : requestedModel;
}

/** An installation that configures chat models has its own, so it gets no other. */
function automatic(
  configured: ChatModelConfig["models"],
  manifest: readonly ManifestEntry[],
  { freeBytes, budgetBytes }: { freeBytes: number; budgetBytes: number },
): ManifestEntry | undefined {
  if (configured.some(({ task }) => task === "chat")) return undefined;
  return preferred(manifest).find(
    ({ preferredFromFreeBytes = 0, memoryBytes = 0 }) =>
      freeBytes >= preferredFromFreeBytes && budgetBytes >= memoryBytes,
  );
}

/** The models that may be preferred to the manifest's default, the best first. */
function preferred(manifest: readonly ManifestEntry[]): ManifestEntry[] {
  return manifest
    .filter(({ task, preferredFromFreeBytes }) => task === "chat" && preferredFromFreeBytes !== undefined)
    .sort((a, b) => (b.preferredFromFreeBytes ?? 0) - (a.preferredFromFreeBytes ?? 0));
}
