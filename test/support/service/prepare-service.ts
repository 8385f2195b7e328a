/** What a service of tests starts from: new folders, a configuration, a migrated database and fixed keys. */

import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyMigratedFile } from "../databases/migrated-file.ts";
import { DEFAULT_CHAT_MODEL } from "../models/default-model.ts";
import { cleanEnvironment } from "./clean-environment.ts";
import { ROOT } from "./executable.ts";
import { ADMIN_KEY, API_KEY } from "./service-client.ts";

export interface ServiceOptions {
  /** The text of parlance.yaml. */
  config?: string;
  environment?: Readonly<Record<string, string>>;
}

export interface PreparedService {
  dataDirectory: string;
  configFile: string;
  environment: Record<string, string>;
}

/** `isMigrated`: whether the database has the current schema already. */
export async function prepareService(options: ServiceOptions, isMigrated: boolean): Promise<PreparedService> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "parlance-test-"));
  const configFile = join(dataDirectory, "parlance.yaml");
  const config = options.config ?? "builtin_models: false\n";
  // Most tests wait for their models first; tests of loading on demand configure it explicitly.
  await writeFile(configFile, /^local:/m.test(config) ? config : loadedAtStart(config));
  const environment = {
    ...cleanEnvironment(),
    PARLANCE_HOST: "127.0.0.1",
    PARLANCE_PORT: "0",
    PARLANCE_DATA_DIR: dataDirectory,
    PARLANCE_MODELS_DIR: process.env.PARLANCE_MODELS_DIR ?? join(ROOT, ".parlance", "models"),
    PARLANCE_CONFIG: configFile,
    // Otherwise the tests' services download a larger model in the background.
    PARLANCE_DEFAULT_CHAT_MODEL: DEFAULT_CHAT_MODEL,
    PARLANCE_API_KEY: API_KEY,
    PARLANCE_ADMIN_KEY: ADMIN_KEY,
    ...options.environment,
  };
  if (isMigrated) copyMigratedFile(join(dataDirectory, "parlance.sqlite"));
  return { dataDirectory, configFile, environment };
}

function loadedAtStart(config: string): string {
  const local = "local: { load: start, unload_after_seconds: 0, default_speech_model: hibari }";
  return config.startsWith("{") ? `{ ${local}, ${config.slice(1)}` : `${local}\n${config}`;
}
