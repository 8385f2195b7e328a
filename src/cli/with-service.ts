/** Commands on what only a running service has, such as loaded models. */

import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load-config.ts";
import { Fault } from "../kernel/faults.ts";
import { findRunningService } from "../kernel/process/service-file.ts";
import { configSources } from "./config-sources.ts";
import { httpClient, type ServiceClient } from "./service-client.ts";
import { type KeyOptions, withTemporaryKey } from "./temporary-key.ts";

export interface ServiceOptions {
  /** URL of the service, with or without `/v1`. */
  url?: string;
  key?: string;
}

/** Environment variable with a key of each kind. */
const KEY_VARIABLES = { project: "PARLANCE_KEY", admin: "PARLANCE_ADMIN_KEY" } as const;

/**
 * Runs `work` with a client of the service. Without a key, a temporary one is created in the database of the data
 * directory: in place of an admin key, one of the operator. Throws a Fault where no service runs.
 */
export async function withService<Result>(
  kind: "project" | "admin",
  options: ServiceOptions,
  work: (client: ServiceClient) => Promise<Result>,
  keyOptions?: KeyOptions,
): Promise<Result> {
  const origin = await findOrigin(options);
  if (origin === undefined) throw notRunning(await loadConfig(configSources()));
  const key = options.key ?? keyInEnvironment(kind);
  if (key !== undefined) return work(httpClient(origin, key));
  if (options.url !== undefined) throw missingKey(origin, kind);
  const config = await loadConfig(configSources());
  const temporary = kind === "admin" ? "operator" : kind;
  return withTemporaryKey(config, temporary, (secret) => work(httpClient(origin, secret)), keyOptions);
}

export function keyInEnvironment(kind: "project" | "admin"): string | undefined {
  return process.env[KEY_VARIABLES[kind]] || undefined;
}

export function missingKey(origin: string, kind: "project" | "admin"): Fault {
  return new Fault("unauthenticated", `${origin} needs a key: use --key or the variable ${KEY_VARIABLES[kind]}.`);
}

/** Origin of the service to talk to; undefined where none is named and none runs. */
export async function findOrigin({ url }: ServiceOptions): Promise<string | undefined> {
  if (url !== undefined) return originOf(url);
  const { dataDirectory } = await loadConfig(configSources());
  return findRunningOrigin(dataDirectory);
}

export function originOf(url: string): string {
  return url.replace(/\/+$/, "").replace(/\/v1$/, "");
}

export function findRunningOrigin(dataDirectory: string): string | undefined {
  // A wildcard address is not one to connect to.
  return findRunningService(dataDirectory)?.origin.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

export function notRunning({ dataDirectory }: Pick<Config, "dataDirectory">): Fault {
  return new Fault(
    "unavailable",
    `No service runs with the data directory ${dataDirectory}. Start one with \`npm start\` or \`parlance serve\`, run this command in its folder, or name another one with --url.`,
  );
}
