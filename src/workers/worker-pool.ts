/** The service's workers: starts them, replaces those that end, and keeps them up to date. */

import cluster from "node:cluster";
import { randomBytes } from "node:crypto";
import { getCompileCacheDir } from "node:module";
import { fileURLToPath } from "node:url";
import { withUpstreamsOnly } from "../catalog/upstream-only.ts";
import type { Config } from "../config/config.ts";
import { siblingModule } from "../engines/host/sibling-module.ts";
import { isUpstream } from "../engines/registry.ts";
import { AddressCounts } from "../http/connections.ts";
import { workerCount } from "../http/settings.ts";
import { backoffDelay } from "../kernel/async/backoff.ts";
import { resultWithin, withTimeout } from "../kernel/async/timeout.ts";
import { MINUTE_MS } from "../kernel/durations.ts";
import { Poll } from "../kernel/jobs/poll.ts";
import type { Logger } from "../kernel/logger.ts";
import { V8_FLAGS } from "../kernel/process/v8-flags.ts";
import { type MetricsSnapshot, mergeMetrics } from "../observability/metrics-snapshot.ts";
import { type OwnerParts, OwnerServices } from "./owner-services.ts";
import type { WorkerSettings, WorkerUpdate } from "./protocol.ts";
import { toJsonWithSecrets } from "./secret-json.ts";
import { WorkerLink } from "./worker-link.ts";

/** A smaller young generation is collected more often, a larger one takes memory: `bench/RESULTS.md`. */
const SEMI_SPACE_MEGABYTES = 4;
const RESTART_MS = { initial: 100, max: 30_000 };
/** A worker that ran this long did not fail at its start. */
const STABLE_MS = 10_000;
/** Workers that do not answer in time are left out, or replaced by their own end. */
const ANSWER_MS = 2_000;
const START_MS = MINUTE_MS;
const END_MS = 5_000;
/** A worker that has answered none of this many questions in a row, a minute of them, is in a loop or stopped. */
const MAX_UNANSWERED = 5;
const WATCH_MS = 10_000;

export interface WorkerPoolOptions {
  logger: Logger;
  socketPath: string;
}

export class WorkerPool {
  /** Proves to the owner's server that a request comes from a worker. */
  readonly secret = randomBytes(24).toString("base64url");
  readonly #options: WorkerPoolOptions;
  readonly #links = new Map<number, WorkerLink>();
  readonly #connections: AddressCounts;
  #config: Config;
  /** Undefined until the workers start. */
  #services: OwnerServices | undefined;
  /** Metrics of workers that have ended: totals never fall. */
  #ended: MetricsSnapshot[] = [];
  #watch: Poll | undefined;
  #isStopping = false;

  constructor(config: Config, options: WorkerPoolOptions) {
    this.#config = config;
    this.#options = options;
    this.#connections = new AddressCounts(config.server.maxConnectionsPerAddress ?? Number.POSITIVE_INFINITY);
  }

  /** Unix domain socket on which the owner's server listens. */
  get socketPath(): string {
    return this.#options.socketPath;
  }

  /** Resolves with the origin, such as `http://127.0.0.1:8080`, once all workers listen. */
  async start(owner: OwnerParts): Promise<string> {
    const services = new OwnerServices(owner);
    this.#services = services;
    // A TypeScript file as the main module would load Node's stripper, unless its result is in the cache.
    const cache = getCompileCacheDir();
    if (cache !== undefined) process.env.NODE_COMPILE_CACHE ??= cache;
    const execArgv = process.execArgv.filter((each) => !each.startsWith("--max-semi-space-size"));
    cluster.setupPrimary({
      exec: fileURLToPath(siblingModule(import.meta.url, "./request-worker")),
      args: [],
      execArgv: [...execArgv, ...V8_FLAGS, `--max-semi-space-size=${SEMI_SPACE_MEGABYTES}`],
    });
    const ids = Array.from({ length: workerCount(this.#config.server) }, (_, index) => index + 1);
    const origins = await Promise.all(ids.map((id) => this.#startWorker(id, services)));
    this.#watch = new Poll(() => this.#endStuckWorkers(), { everyMs: WATCH_MS });
    return origins[0] ?? "";
  }

  /** Applies the models, and the settings of a configuration. */
  async apply(config = this.#config): Promise<void> {
    this.#config = config;
    if (this.#services === undefined) return;
    const { limits, guardrails, prices, logLevel } = config;
    const update: WorkerUpdate = { models: modelsOf(this.#services), limits, guardrails, prices, logLevel };
    const json = toJsonWithSecrets(update);
    await this.#askAll((link) => link.channel.call("apply", json));
  }

  /** Resolves once all workers have answered their requests, or the time for it is over. */
  async drain(): Promise<void> {
    this.#isStopping = true;
    await Promise.allSettled(this.#all().map(({ channel }) => channel.call("drain")));
  }

  async close(): Promise<void> {
    this.#isStopping = true;
    this.#watch?.stop();
    const ending = this.#all().map(async ({ worker }) => {
      const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
      worker.disconnect();
      if (
        (await resultWithin(
          exited.then(() => true),
          END_MS,
        )) === undefined
      )
        worker.process.kill("SIGKILL");
    });
    await Promise.all(ending);
  }

  async #startWorker(id: number, services: OwnerServices, failures = 0): Promise<string> {
    const { logger } = this.#options;
    const worker = cluster.fork();
    const link = new WorkerLink(worker, services, services.counters, this.#connections);
    this.#links.set(id, link);
    const startedAt = performance.now();
    const forget = () => {
      this.#ended.push(link.metrics.filter(({ type }) => isTotal(type)));
      if (this.#links.get(id) === link) this.#links.delete(id);
      link.ended().catch((err: unknown) => logger.error({ err, worker: id }, "reservations were not released"));
    };
    // After everything that it sent has arrived, unlike `exit`.
    worker.once("disconnect", forget);
    worker.on("error", (err) => {
      // A process that did not start has no end. Other errors concern a message or a signal.
      if (worker.process.pid !== undefined) return;
      logger.error({ err, worker: id }, "the process of a worker could not be started");
      forget();
    });
    worker.once("exit", (code, signal) => {
      if (this.#isStopping || !link.isListening) return;
      logger.error({ worker: id, pid: worker.process.pid, code, signal }, "a worker ended; its requests failed");
      const isStable = performance.now() - startedAt > STABLE_MS;
      this.#replace(id, services, isStable ? 1 : failures + 1);
    });
    const starting = link.channel.call("start", toJsonWithSecrets(this.#settings(id, services)));
    const origin = await withTimeout(starting, START_MS);
    link.isListening = true;
    logger.info({ worker: id, pid: worker.process.pid }, "a worker listens");
    return origin;
  }

  /** Connections are dealt to a stuck worker as to any other, and would hang; its end has it replaced. */
  async #endStuckWorkers(): Promise<void> {
    await this.#askAll(async (link) => {
      const { process } = link.worker;
      if (!link.isListening) return;
      if (link.unanswered === MAX_UNANSWERED) {
        this.#options.logger.error({ pid: process.pid }, "a worker does not answer; it is ended");
        process.kill("SIGKILL");
        return;
      }
      link.unanswered += 1;
      await link.channel.call("ping");
      link.unanswered = 0;
    });
  }

  #replace(id: number, services: OwnerServices, failures: number): void {
    setTimeout(
      () => {
        if (this.#isStopping) return;
        this.#startWorker(id, services, failures).catch((err: unknown) => {
          if (this.#isStopping) return;
          this.#options.logger.error({ worker: id, err }, "a worker could not be started");
          this.#links.get(id)?.worker.process.kill("SIGKILL");
          this.#replace(id, services, failures + 1);
        });
      },
      backoffDelay(failures, RESTART_MS),
    ).unref();
  }

  #settings(id: number, services: OwnerServices): WorkerSettings {
    const { socketPath } = this.#options;
    const { server, limits, usage, guardrails, prices, logLevel, openTelemetry } = this.#config;
    return {
      id,
      workers: workerCount(server),
      config: { server, limits, usage, guardrails, prices, logLevel, openTelemetry },
      keyKind: services.accounts.keySource.kind,
      socketPath,
      forwardSecret: this.secret,
      models: modelsOf(services),
    };
  }

  #all(): WorkerLink[] {
    return [...this.#links.values()];
  }

  /** A revoked key must be refused everywhere when its revocation is confirmed. */
  async reloadKeys(): Promise<void> {
    await this.#askAll((link) => link.channel.call("reloadKeys"));
  }

  /** Names of the deployments whose circuit is open in a worker. */
  openCircuits(): ReadonlySet<string> {
    return new Set(this.#all().flatMap((link) => link.openCircuits));
  }

  async measure(): Promise<readonly MetricsSnapshot[]> {
    await this.#askAll(async (link) => {
      link.metrics = await link.channel.call("measure");
    });
    if (this.#ended.length > 1) this.#ended = [await mergeMetrics(this.#ended)];
    return [...this.#ended, ...this.#all().map(({ metrics }) => metrics)];
  }

  /** Waits for all workers, but not long for one that hangs or ends. */
  async #askAll(ask: (link: WorkerLink) => Promise<unknown>): Promise<void> {
    await Promise.all(
      this.#all().map((link) =>
        resultWithin(
          ask(link).catch(() => {}),
          ANSWER_MS,
        ),
      ),
    );
  }
}

function modelsOf({ live }: OwnerServices) {
  return withUpstreamsOnly(live.models, isUpstream);
}

function isTotal(type: unknown): boolean {
  return type === "counter" || type === "histogram";
}
