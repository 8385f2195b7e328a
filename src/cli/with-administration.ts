/** The administration API for commands: of the running service, or in this process where none runs. */

import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load-config.ts";
import { until } from "../kernel/async/retry.ts";
import { Fault } from "../kernel/faults.ts";
import type { FileLock } from "../kernel/process/file-lock.ts";
import { ranElsewhere, tryServiceLock } from "../kernel/process/service-file.ts";
import { configSources } from "./config-sources.ts";
import { httpClient, inProcessClient, type ServiceClient } from "./service-client.ts";
import { withTemporaryKey } from "./temporary-key.ts";
import {
  findRunningOrigin,
  keyInEnvironment,
  missingKey,
  notRunning,
  originOf,
  type ServiceOptions,
} from "./with-service.ts";

/** Time for another process to start, to stop or to end its command. */
const WAIT_MS = 30_000;
const POLL_MS = 100;
const ANSWER_MS = 2_000;

/** Adds the options that name another service. */
export function addServiceOptions(command: Command): Command {
  return command
    .option("--url <url>", "URL of another service; default: the one that runs with this data directory, if any")
    .option("--key <key>", "admin key; default: $PARLANCE_ADMIN_KEY with --url, otherwise the operator's rights");
}

/** Runs `work` with a client that has the operator's rights, or those of the admin key in `options`. */
export async function withAdministration<Result>(
  { url, key }: ServiceOptions,
  work: (client: ServiceClient) => Promise<Result>,
): Promise<Result> {
  if (url !== undefined) {
    const origin = originOf(url);
    const adminKey = key ?? keyInEnvironment("admin");
    if (adminKey === undefined) throw missingKey(origin, "admin");
    return work(httpClient(origin, adminKey));
  }
  const config = await loadConfig(configSources());
  const place = await findPlace(config);
  if (typeof place === "string") {
    if (key !== undefined) return work(httpClient(place, key));
    return withTemporaryKey(config, "operator", (secret) => work(httpClient(place, secret)));
  }
  try {
    if (key !== undefined) throw notRunning(config);
    return await withRoutes(config, work);
  } finally {
    place.lock?.release();
  }
}

async function withRoutes<Result>(config: Config, work: (client: ServiceClient) => Promise<Result>): Promise<Result> {
  const { openAccountRoutes } = await import("./local-routes.ts");
  await using lifetime = new AsyncDisposableStack();
  return await work(inProcessClient(await openAccountRoutes(config, lifetime)));
}

/** Origin of the running service, or the right to use the database in its place. */
type Place = string | { lock: FileLock | undefined };

async function findPlace(config: Config): Promise<Place> {
  const { dataDirectory, environment } = config;
  // Several services may share a database, so that none has the lock.
  if (environment.DATABASE_URL !== undefined) return (await answeringOrigin(dataDirectory)) ?? { lock: undefined };
  // Before the first start: a command in another folder must not leave an empty database and an encryption key there.
  if (!existsSync(dataDirectory)) throw neverStarted(dataDirectory);
  const look = async (): Promise<Place | undefined> => {
    const lock = tryServiceLock(dataDirectory);
    if (lock !== "taken") return { lock };
    const origin = await answeringOrigin(dataDirectory);
    if (origin !== undefined) return origin;
    // A service in another container cannot be reached at its address, but shares the database.
    return ranElsewhere(dataDirectory) ? { lock: undefined } : undefined;
  };
  const place = await until(look, { everyMs: POLL_MS, timeoutMs: WAIT_MS });
  if (place === undefined) throw busy(dataDirectory);
  return place;
}

/** Undefined also for a service that starts or stops, and for a file that a crash has left. */
export async function answeringOrigin(dataDirectory: string): Promise<string | undefined> {
  const origin = findRunningOrigin(dataDirectory);
  if (origin === undefined) return undefined;
  const signal = AbortSignal.timeout(ANSWER_MS);
  const answer = await fetch(`${origin}/health/live`, { signal }).catch(() => undefined);
  return answer?.ok ? origin : undefined;
}

function neverStarted(dataDirectory: string): Fault {
  return new Fault(
    "unavailable",
    `No service has run with the data directory ${dataDirectory}. Start one with \`npm start\` or \`parlance serve\`, run this command in its folder, or name another one with --url.`,
  );
}

function busy(dataDirectory: string): Fault {
  return new Fault(
    "unavailable",
    `A service uses the data directory ${dataDirectory}, but has not answered for ${WAIT_MS / 1000} s: it may be starting or stopping. Try again, or name it with --url and --key.`,
  );
}
