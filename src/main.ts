/** Process lifecycle: open, listen, reload, drain, stop. */

import { once } from "node:events";
import { chmodSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { type App, type AppOptions, openApp } from "./app/app.ts";
import type { Config } from "./config/config.ts";
import { trustWorkers } from "./http/forwarded-address.ts";
import { Fault } from "./kernel/faults.ts";
import { releaseMemoryWhenIdle } from "./kernel/process/idle-memory.ts";
import { announceService, lockDataDirectory } from "./kernel/process/service-file.ts";
import { drain } from "./serving/drain.ts";

const CLOSE_MS = 10_000;

export interface RunOptions extends AppOptions {
  /** Called once the service accepts requests. An error that it throws ends the service. */
  onListening: (listening: Listening) => Promise<void>;
}

export interface Listening {
  /** URL such as `http://127.0.0.1:8080`. */
  origin: string;
  app: App;
  /** Aborts when the service gets a signal to stop. */
  signal: AbortSignal;
}

/** Resolves with the exit code once the process has drained after a signal. Throws a Fault when it cannot start. */
export async function run(options: RunOptions): Promise<number> {
  const { config, logger } = options;
  // Without a listener, SIGHUP would end the process during startup and while it drains.
  let isAskedToReload = false;
  let onHangUp = () => {
    isAskedToReload = true;
  };
  process.on("SIGHUP", () => onHangUp());
  await ensurePortsFree(config);
  // Replicas with a shared database may also share the directory: they count together.
  const lock =
    config.environment.DATABASE_URL === undefined ? await lockDataDirectory(config.dataDirectory) : undefined;
  using closing = new DisposableStack();
  closing.defer(() => lock?.release());
  const lifetime = new AsyncDisposableStack();
  const stopping = untilStopped();
  try {
    const app = await openApp(options, lifetime);
    await app.configuration.open();
    const origin = await listen(app, config);
    logger.info({ origin, pid: process.pid }, "listening");
    closing.use(announceService(config.dataDirectory, origin));
    app.start();
    const stopped = new AbortController();
    const welcomed = options.onListening({ origin, app, signal: stopped.signal });
    onHangUp = () => void app.configuration.reloadFile();
    if (isAskedToReload) onHangUp();
    using _idle = releaseMemoryWhenIdle();
    try {
      const signal = await Promise.race([stopping, welcomed.then(() => stopping)]);
      logger.info({ signal, running: app.inference.runningCount }, "stopping");
      return 0;
    } finally {
      stopped.abort();
      onHangUp = () => {};
      await stop(app, config.server.drainSeconds);
    }
  } finally {
    // Parts that do not close in time end with the process.
    const late = pause(CLOSE_MS).then(() => logger.error("some parts did not close in time"));
    await Promise.race([lifetime.disposeAsync(), late]);
    logger.info("stopped");
  }
}

/** The first signal drains. Another SIGTERM has no effect, but a second Ctrl-C ends the process at once. */
function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.on("SIGTERM", resolve);
    process.on("SIGINT", (signal) => {
      process.on("SIGINT", () => process.exit(130));
      resolve(signal);
    });
  });
}

/** Reports a port in use before any engine starts. */
async function ensurePortsFree({ server: { host, port, operations } }: Config): Promise<void> {
  for (const address of [{ host, port }, ...(operations === undefined ? [] : [operations])]) {
    const probe = createServer();
    try {
      probe.listen(address);
      await once(probe, "listening");
    } catch (failure) {
      throw toListenFault(failure, address);
    } finally {
      await new Promise((closed) => probe.close(closed));
    }
  }
}

function toListenFault(failure: unknown, wanted: { host: string; port: number }): unknown {
  const { code, address: host = wanted.host, port = wanted.port } = failure as NodeJS.ErrnoException & AddressInfo;
  if (code === "EADDRINUSE") {
    const message = `${host}:${port} is already in use. Stop the program that listens there, or set another port with PARLANCE_PORT.`;
    return new Fault("conflict", message, { cause: failure });
  }
  if (code === "EACCES" || code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new Fault("invalid-request", `Cannot listen on ${host}:${port} (${code}).`, { cause: failure });
  }
  return failure;
}

/** Resolves with the service's origin. */
async function listen({ server, operationsServer, workers, owner }: App, { server: address }: Config): Promise<string> {
  try {
    if (workers === undefined) await server.app.listen({ host: address.host, port: address.port });
    else {
      trustWorkers(server.app.server, workers.secret);
      await server.app.listen({ path: workers.socketPath });
      // A named pipe of Windows has no mode.
      if (process.platform !== "win32") chmodSync(workers.socketPath, 0o600);
    }
    if (address.operations !== undefined) await operationsServer?.listen({ ...address.operations });
  } catch (failure) {
    throw toListenFault(failure, address);
  }
  if (workers !== undefined) return workers.start(owner);
  const { address: host, family, port } = server.app.server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${host}]` : host}:${port}`;
}

async function stop(app: App, seconds: number): Promise<void> {
  await Promise.all([drain(app, seconds), app.workers?.drain()]);
}
