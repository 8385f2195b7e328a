/** Process of a worker, which `WorkerPool` starts. It listens together with the others and ends with the owner. */

import type { AddressInfo } from "node:net";
import { releaseMemoryWhenIdle } from "../kernel/process/idle-memory.ts";
import { openLog } from "../observability/open-log.ts";
import { openLogExport } from "../observability/open-telemetry.ts";
import { drain } from "../serving/drain.ts";
import { Channel } from "./channel.ts";
import { type ComposedWorker, composeWorker } from "./compose-worker.ts";
import type { OwnerMethods, WorkerMethods, WorkerSettings, WorkerUpdate } from "./protocol.ts";
import { fromJsonWithSecrets } from "./secret-json.ts";

// The owner decides when workers end: Ctrl-C and systemd send signals to all processes of a service.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

const started = Promise.withResolvers<ComposedWorker & { drainSeconds: number; logger: ReturnType<typeof openLog> }>();

const methods: WorkerMethods = {
  start: async (json) => {
    const settings = fromJsonWithSecrets<WorkerSettings>(json);
    const { host, port, drainSeconds } = settings.config.server;
    const exported = await openLogExport(settings.config.openTelemetry);
    const logger = openLog(settings.config.logLevel, exported).child({ worker: settings.id });
    const worker = await composeWorker(settings, owner, logger);
    await worker.server.app.listen({ host, port });
    releaseMemoryWhenIdle();
    const close = async () => {
      await worker.close();
      await exported?.[Symbol.asyncDispose]();
    };
    started.resolve({ ...worker, close, drainSeconds, logger });
    const { address, family, port: bound } = worker.server.app.server.address() as AddressInfo;
    return `http://${family === "IPv6" ? `[${address}]` : address}:${bound}`;
  },
  apply: async (json) => {
    const { logger, apply } = await started.promise;
    const update = fromJsonWithSecrets<WorkerUpdate>(json);
    logger.level = update.logLevel;
    await apply(update);
  },
  reloadKeys: async () => (await started.promise).callers.keys.reload(),
  ping: () => {},
  measure: async () => (await started.promise).metrics.snapshot(),
  drain: async () => {
    const worker = await started.promise;
    await drain(worker, worker.drainSeconds);
    await worker.close();
  },
};

const owner = new Channel<OwnerMethods>(
  {
    send: (messages) => void process.send?.(messages),
    onMessages: (receive) => void process.on("message", receive),
  },
  methods,
);
