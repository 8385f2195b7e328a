/** The catalog's models: the manifest's defaults, other pulled models, bundled models and configured models. */

import type { ChatDefaults } from "../contracts/chat-model.ts";
import { NO_PRICE } from "../contracts/price.ts";
import { TASKS } from "../contracts/task.ts";
import { DEFAULT_POLICY, DEFAULT_ROUTING_OPTIONS, type FallbackOccasion } from "../deployments/routing-options.ts";
import { ENGINES } from "../engines/registry.ts";
import type { Settings } from "../kernel/settings/settings.ts";
import type { BundledModel } from "../model-store/manifest/bundled-model.ts";
import { BUNDLED_MODELS } from "../model-store/manifest/bundled-models.ts";
import { MANIFEST } from "../model-store/manifest/manifest.ts";
import type { ManifestEntry } from "../model-store/manifest/manifest-entry.ts";
import type { ModelStore } from "../model-store/model-store.ts";
import type { ModelSpec } from "./build-catalog.ts";
import { withDefaultAliases, withFirstAliases } from "./default-aliases.ts";
import { type Machine, modelsToListFirst, thisMachine } from "./default-models.ts";
import type { BuiltinOverride, ModelConfig } from "./model-config.ts";
import type { ModelSettings } from "./model-settings.ts";

/**
 * The defaults, chat before the others, and other pulled models; of chat, speech and moderation, the model that suits the
 * machine before the others. A configured model replaces a built-in one of the same ID.
 */
export async function buildModelSpecs(
  config: Settings,
  store: Pick<ModelStore, "list">,
  machine: Machine = thisMachine(config),
): Promise<ModelSpec[]> {
  const configured = config.models.map((model) => toConfigured(model, config));
  if (!config.builtinModels) return config.defaultAliases ? withFirstAliases(configured) : configured;
  const configuredIds = new Set(configured.map(({ id }) => id));
  const overrides = new Map(config.builtinOverrides.map((override) => [override.id, override]));
  const pulled = new Set((await store.list()).map(({ id }) => id));
  const builtin = MANIFEST.filter(
    ({ id, isDefault, isComponent }) =>
      isComponent !== true && !configuredIds.has(id) && (isDefault || pulled.has(id) || overrides.has(id)),
  );
  const bundled = BUNDLED_MODELS.filter(
    ({ id, requires }) =>
      !configuredIds.has(id) && (requires === undefined || pulled.has(requires) || overrides.has(id)),
  );
  const builtinIds = new Set([...builtin, ...bundled].map(({ id }) => id));
  const isBuiltin = (id: string) => builtinIds.has(id);
  const first = new Set(modelsToListFirst(config, [...builtin, ...bundled], machine));
  const toSpec = (entry: ManifestEntry | BundledModel) =>
    toModelSpec(entry, "files" in entry ? { model: entry.id } : {}, isBuiltin, config, overrides.get(entry.id));
  const models = [...[...builtin, ...bundled].sort(inOrder(first)).map(toSpec), ...configured];
  return config.defaultAliases ? withFirstAliases(withDefaultAliases(models)) : models;
}

type BuiltinModel = (ManifestEntry | BundledModel) & Pick<ManifestEntry, "fallbacks" | "guardFamily" | "defaults">;

/**
 * Defaults before bundled models, and these before other pulled ones: OpenAI's names must not change their meaning with a
 * pull. Chat before the other tasks; of a task, those of `first` before its default.
 */
function inOrder(first: ReadonlySet<string>) {
  const group = (entry: ManifestEntry | BundledModel) => {
    if (first.has(entry.id) || ("isDefault" in entry && entry.isDefault)) return 0;
    return "files" in entry ? 2 : 1;
  };
  return (a: ManifestEntry | BundledModel, b: ManifestEntry | BundledModel): number =>
    group(a) - group(b) ||
    TASKS.indexOf(a.task) - TASKS.indexOf(b.task) ||
    Number(first.has(b.id)) - Number(first.has(a.id));
}

function toConfigured(model: ModelConfig, { local }: Settings): ModelSpec {
  const { strategy, retries, prefixLoadFactor, circuit, maxQueue, deployments, hidden: isHidden, ...rest } = model;
  return {
    ...rest,
    ...toFallbacks(rest.fallbacks),
    isHidden,
    isBuiltin: false,
    license: undefined,
    defaults: mergeDefaults(recommendedDefaults(deployments), toDefaults(model.defaults)),
    routing: { strategy, retries, prefixLoadFactor },
    deployments: deployments.map(
      ({ engine, settings, maxQueue: own = maxQueue, load, unloadAfterSeconds, ...routingOptions }) => ({
        engine,
        settings,
        routingOptions: {
          ...routingOptions,
          maxQueue: own,
          circuit,
          load: load ?? local.load,
          unloadAfterSeconds: (unloadAfterSeconds ?? local.unloadAfterSeconds) || undefined,
        },
      }),
    ),
  };
}

function toFallbacks(fallbacks: ModelConfig["fallbacks"]): Pick<ModelSpec, "fallbacks" | "fallbackOccasions"> {
  const occasions = fallbacks.flatMap((each): [string, FallbackOccasion][] =>
    typeof each === "string" || each.when === "unavailable" ? [] : [[each.model, each.when]],
  );
  return {
    fallbacks: fallbacks.map((each) => (typeof each === "string" ? each : each.model)),
    ...(occasions.length > 0 && { fallbackOccasions: Object.fromEntries(occasions) }),
  };
}

/** Defaults of the manifest's model that all deployments run; undefined if they differ. */
function recommendedDefaults(deployments: ModelConfig["deployments"]): ChatDefaults | undefined {
  const ids = new Set(deployments.map(({ settings }) => manifestId(settings)));
  const [id] = ids;
  return ids.size === 1 ? MANIFEST.find((entry) => entry.id === id)?.defaults : undefined;
}

function manifestId(settings: unknown): string | undefined {
  const { reference } = settings as { reference?: { model?: string } };
  return reference?.model;
}

/** A configured model with a fallback's ID may differ from it, so it is not a fallback. */
function toModelSpec(
  entry: BuiltinModel,
  settings: Readonly<Record<string, unknown>>,
  isBuiltin: (id: string) => boolean,
  { local: { load, unloadAfterSeconds } }: Settings,
  override: BuiltinOverride | undefined,
): ModelSpec {
  const { circuit, maxQueue } = override ?? {};
  return {
    id: entry.id,
    task: entry.task,
    isBuiltin: true,
    ownedBy: override?.ownedBy ?? "parlance",
    license: entry.license,
    contextWindow: "contextWindow" in entry ? entry.contextWindow : undefined,
    dimensions: "dimensions" in entry ? entry.dimensions : undefined,
    aliases: override?.aliases ?? [],
    isHidden: override?.hidden ?? false,
    accessGroups: override?.accessGroups ?? [],
    price: override?.price ?? NO_PRICE,
    batchPrice: override?.batchPrice,
    defaults: mergeDefaults(entry.defaults, toDefaults(override?.defaults)),
    cache: override?.cache,
    guardrails: override?.guardrails,
    mirror: override?.mirror,
    ...(override?.fallbacks.length
      ? toFallbacks(override.fallbacks)
      : { fallbacks: (entry.fallbacks ?? []).filter(isBuiltin) }),
    routing: override === undefined ? DEFAULT_POLICY : pickRouting(override),
    deployments: [
      {
        ...runBy(entry, { ...settings, ...entry.engineSettings }),
        routingOptions: {
          ...DEFAULT_ROUTING_OPTIONS,
          // It is there because another model's files are, not because somebody wants it loaded.
          load: "requires" in entry ? "on_demand" : load,
          unloadAfterSeconds: unloadAfterSeconds || undefined,
          ...(circuit === undefined ? {} : { circuit }),
          ...(maxQueue === undefined ? {} : { maxQueue }),
        },
      },
    ],
  };
}

function pickRouting({ strategy, retries, prefixLoadFactor }: BuiltinOverride): ModelSpec["routing"] {
  return { strategy, retries, prefixLoadFactor };
}

function toDefaults(settings: ModelSettings["defaults"]): ChatDefaults {
  const { maxCompletionTokens: maxTokens, ...defaults } = settings ?? {};
  return { ...defaults, maxTokens };
}

function mergeDefaults(recommended: ChatDefaults | undefined, own: ChatDefaults = {}): ChatDefaults {
  const set = Object.entries(own).filter(([, value]) => value !== undefined);
  return { ...recommended, ...Object.fromEntries(set) };
}

function runBy({ engine, guardFamily: family }: BuiltinModel, settings: Readonly<Record<string, unknown>>) {
  if (family === undefined) return { engine, settings: ENGINES[engine].settings.parse(settings) };
  return { engine: "guard", settings: ENGINES.guard.settings.parse({ family, chat: { engine, ...settings } }) };
}
