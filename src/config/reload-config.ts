import { Fault } from "../kernel/faults.ts";
import type { Config } from "./config.ts";
import { type ConfigSources, loadConfig } from "./load-config.ts";
import { mergeSettings } from "./settings-in-force.ts";

/** Settings that a reload applies; all others need a restart. */
const LIVE = [
  "models",
  "builtinOverrides",
  "builtinModels",
  "defaultAliases",
  "local",
  "logLevel",
  "file",
  "warnings",
] as const satisfies readonly (keyof Config)[];

export type Reloaded =
  /** `config` is the new configuration; `needsRestart` lists changed settings that keep their old value until a restart. */
  | { isAccepted: true; config: Config; needsRestart: readonly string[] }
  /** The new file is invalid and `fault` lists the errors; the old configuration stays in effect. */
  | { isAccepted: false; fault: string };

/** Loads the configuration again, as at startup. Throws only on a bug. */
export async function reloadConfig(current: Config, sources: ConfigSources): Promise<Reloaded> {
  try {
    const next = await loadConfig(sources, current);
    const live = Object.fromEntries(LIVE.map((key) => [key, next[key]])) as Pick<Config, (typeof LIVE)[number]>;
    return {
      isAccepted: true,
      config: Object.freeze({ ...current, ...live, inForce: mergeSettings(current.inForce, next.inForce) }),
      needsRestart: fixedChanges(current, next),
    };
  } catch (failure) {
    if (failure instanceof Fault) return { isAccepted: false, fault: failure.message };
    throw failure;
  }
}

/** Changed settings by their path in the file. Secrets come from the environment, which does not change while a process runs. */
function fixedChanges(current: Config, next: Config): string[] {
  const settings: Record<string, (config: Config) => unknown> = {
    "server.host": ({ server }) => server.host,
    "server.port": ({ server }) => server.port,
    "server.operations": ({ server }) => server.operations,
    "server.max_body_bytes": ({ server }) => server.maxBodyBytes,
    "server.max_upload_bytes": ({ server }) => server.maxUploadBytes,
    "server.max_audio_seconds": ({ server }) => server.maxAudioSeconds,
    "server.ffmpeg": ({ server }) => server.ffmpeg,
    "server.max_moderation_inputs": ({ server }) => server.maxModerationInputs,
    "server.receive_timeout_seconds": ({ server }) => server.receiveTimeoutSeconds,
    "server.request_timeout_seconds": ({ server }) => server.requestTimeoutSeconds,
    "server.max_connections_per_address": ({ server }) => server.maxConnectionsPerAddress,
    "server.trusted_proxies": ({ server }) => server.trustedProxies,
    "server.cors_origins": ({ server }) => server.corsOrigins,
    "server.unknown_fields": ({ server }) => server.unknownFields,
    "server.mismatched_ids": ({ server }) => server.mismatchedIds,
    "server.workers": ({ server }) => server.workers,
    "server.drain_seconds": ({ server }) => server.drainSeconds,
    "server.database_grace_seconds": ({ server }) => server.databaseGraceSeconds,
    limits: ({ limits, ...config }) => [limits, config.onCountersUnavailable, config.failedAuthenticationsPerMinute],
    "usage.record_days": ({ usage }) => usage.recordDays,
    responses: ({ responses }) => responses,
    ollama: ({ ollama }) => ollama,
    realtime: ({ realtime }) => realtime,
    opentelemetry: ({ openTelemetry }) => openTelemetry,
    data_directory: ({ dataDirectory }) => dataDirectory,
    models_directory: ({ modelsDirectory }) => modelsDirectory,
  };
  return Object.entries(settings)
    .filter(([, read]) => JSON.stringify(read(current)) !== JSON.stringify(read(next)))
    .map(([name]) => name);
}
