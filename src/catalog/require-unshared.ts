import { textsIn } from "../engines/registry.ts";
import { Fault } from "../kernel/faults.ts";
import type { Settings } from "../kernel/settings/settings.ts";
import { BUNDLED_MODELS } from "../model-store/manifest/bundled-models.ts";
import type { ModelStore } from "../model-store/model-store.ts";
import type { ModelSpec } from "./build-catalog.ts";
import { buildModelSpecs } from "./model-specs.ts";

/**
 * Throws a Fault for a model that runs the files of another one, or whose files another one of the catalog or the store
 * uses.
 */
export async function requireUnshared(id: string, config: Settings, store: ModelStore): Promise<void> {
  const storedId = store.idOf(id);
  if (storedId !== id && store.manifest.some((entry) => entry.id === storedId)) {
    throw inUse(`\`${id}\` runs the files of \`${storedId}\`. Remove that one instead.`);
  }
  const others = (await store.list()).filter((stored) => stored.id !== storedId);
  const based = others.find((stored) => store.isNamedBy(stored.id, storedId));
  if (based !== undefined) throw shared(storedId, based.id, "Remove it first.");
  // A bundled model that is in the catalog because of these files goes with them.
  const remaining = await buildModelSpecs(config, { list: async () => others });
  const user = remaining.find(
    (model) =>
      model.id !== storedId &&
      model.deployments.some(({ engine, settings }) =>
        textsIn(engine, settings).some((text) => store.isNamedBy(text, storedId)),
      ),
  );
  if (user === undefined) return;
  throw shared(storedId, user.id, wayOutOf(user, config));
}

function wayOutOf({ id, isBuiltin }: ModelSpec, { builtinOverrides }: Settings): string {
  if (!isBuiltin || builtinOverrides.some((override) => override.id === id)) {
    return "Take it out of the configuration first.";
  }
  const needed = BUNDLED_MODELS.find((bundled) => bundled.id === id)?.requires;
  if (needed !== undefined) return `It is there because of \`${needed}\`: remove that first.`;
  return "It is a built-in model; `builtin_models: false` turns these off.";
}

function shared(storedId: string, user: string, way: string): Fault {
  return inUse(`The files of \`${storedId}\` are also used by \`${user}\`. ${way}`);
}

function inUse(message: string): Fault {
  return new Fault("conflict", message, { code: "model_in_use" });
}
