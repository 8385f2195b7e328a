/** Talks to a running service: the one of the data directory, or the one that --url names. */

import { loadConfig } from "../config/load-config.ts";
import { Fault } from "../kernel/faults.ts";
import { findRunningService } from "../kernel/process/service-file.ts";
import { configSources } from "./config-sources.ts";
import { withTemporaryKey } from "./temporary-key.ts";

export interface ServiceOptions {
  /** URL of the service, with or without `/v1`. */
  url?: string;
  key?: string;
}

export interface ServiceClient {
  origin: string;
  /** Sends JSON to a path such as `/v1/models`. Throws a Fault for any status but 200. */
  send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response>;
}

/** Environment variable with a key of each kind. */
const KEY_VARIABLES = { project: "PARLANCE_KEY", admin: "PARLANCE_ADMIN_KEY" } as const;

/**
 * Runs `work` with a client of the service. Without a key, a temporary one is created in the database of the data
 * directory, which is the operator's. Throws a Fault where no service runs.
 */
export async function withService<Result>(
  kind: "project" | "admin",
  options: ServiceOptions,
  work: (client: ServiceClient) => Promise<Result>,
): Promise<Result> {
  const origin = await findOrigin(options);
  if (origin === undefined) throw notRunning();
  const key = options.key ?? (process.env[KEY_VARIABLES[kind]] || undefined);
  if (key !== undefined) return work(createClient(origin, key));
  if (options.url !== undefined) {
    throw new Fault("unauthenticated", `${origin} needs a key: use --key or the variable ${KEY_VARIABLES[kind]}.`);
  }
  return withTemporaryKey(kind, (temporary) => work(createClient(origin, temporary)));
}

/** Origin of the service to talk to; undefined where none is named and none runs. */
export async function findOrigin({ url }: ServiceOptions): Promise<string | undefined> {
  if (url !== undefined) return url.replace(/\/+$/, "").replace(/\/v1$/, "");
  const { dataDirectory } = await loadConfig(configSources());
  // A wildcard address is not one to connect to.
  return findRunningService(dataDirectory)?.origin.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

function createClient(origin: string, key: string): ServiceClient {
  return {
    origin,
    async send(method, path, body, signal) {
      const response = await fetch(`${origin}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { "content-type": "application/json" }) },
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal ?? null,
      }).catch((failure: Error) => {
        signal?.throwIfAborted();
        const reason = failure.cause instanceof Error ? failure.cause.message : failure.message;
        throw new Fault("unavailable", `${origin} cannot be reached: ${reason}.`, { cause: failure });
      });
      if (response.ok) return response;
      const text = await response.text();
      throw new Fault(
        "upstream-failed",
        messageIn(text) ?? `${origin} answered ${response.status}: ${text.slice(0, 200)}`,
      );
    },
  };
}

function messageIn(text: string): string | undefined {
  try {
    return JSON.parse(text).error.message;
  } catch {
    return undefined;
  }
}

function notRunning(): Fault {
  return new Fault(
    "unavailable",
    "No service runs with this data directory. Start one with `npm start` or `parlance serve`, or name another one with --url.",
  );
}
