import type { Feature } from "../../http/feature.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import type { UsageStorage } from "../usage/index.ts";
import { expandPrompts } from "./expand-prompts.ts";
import { Prompts } from "./prompts.ts";
import { storedPrompts } from "./routes.ts";

interface PromptsParts {
  accounts: Accounts;
  database: Database;
  usage: UsageStorage;
}

/** Stored prompts, and requests that name one. */
export function promptFeature({ accounts, database, usage }: PromptsParts): Feature {
  const prompts = new Prompts(database);
  return {
    addHooks: (app) => expandPrompts(app, prompts, accounts.callers),
    project: [storedPrompts(prompts, () => usage.recorder.flush())],
  };
}
