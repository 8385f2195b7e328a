import type { Feature, ServiceParts } from "../feature.ts";
import { expandPrompts } from "./expand-prompts.ts";
import { Prompts } from "./prompts.ts";
import { storedPrompts } from "./routes.ts";

/** Stored prompts, and requests that name one. */
export function promptFeature({ accounts, database, usage }: ServiceParts): Feature {
  const prompts = new Prompts(database);
  return {
    addHooks: (app) => expandPrompts(app, prompts, accounts.callers),
    project: [storedPrompts(prompts, () => usage.recorder.flush())],
  };
}
