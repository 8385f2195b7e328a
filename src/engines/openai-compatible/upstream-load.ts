/** Reads an upstream's load at `metrics_path`. */

import type { EngineLoad, LoadReport } from "../../contracts/open-model.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Connections } from "./connection/connections.ts";
import { Exchange } from "./connection/exchange.ts";
import { readText } from "./connection/read-body.ts";
import { withScopedSignal } from "./connection/scoped-signal.ts";
import type { UpstreamSettings } from "./connection-settings.ts";
import { parseEngineLoad } from "./engine-load.ts";
import { requestTemplate } from "./upstream-request.ts";

const TIMEOUT_SECONDS = 10;
/** vLLM writes about 60 KB per data-parallel engine. */
const MAX_BYTES = 4 * 1024 * 1024;

export class UpstreamLoad implements LoadReport {
  readonly intervalSeconds: number;
  readonly #path: string;
  readonly #connections: Connections;
  readonly #settings: UpstreamSettings;
  readonly #logger: Logger;
  /** Whether the last read failed: an outage is logged once. */
  #isFailing = false;

  constructor(path: string, connections: Connections, settings: UpstreamSettings, logger: Logger) {
    this.intervalSeconds = settings.metricsIntervalSeconds;
    this.#path = path;
    this.#connections = connections;
    this.#settings = settings;
    this.#logger = logger;
  }

  async read(signal: AbortSignal): Promise<EngineLoad> {
    try {
      const load = await withScopedSignal(signal, (own) => this.#read(own));
      this.#isFailing = false;
      return load;
    } catch (error) {
      if (!this.#isFailing) {
        const reason = signal.aborted ? "no answer in time" : (error as Error).message;
        this.#logger.warn({ path: this.#path, reason }, "cannot read the load of an upstream");
      }
      this.#isFailing = true;
      throw error;
    }
  }

  async #read(signal: AbortSignal): Promise<EngineLoad> {
    const request = { ...requestTemplate(this.#settings, "models"), method: "GET" as const, path: this.#path };
    const limits = {
      firstByteTimeoutSeconds: TIMEOUT_SECONDS,
      idleTimeoutSeconds: TIMEOUT_SECONDS,
      maxResponseBytes: MAX_BYTES,
    };
    const exchange = new Exchange(this.#connections, request, limits, signal);
    try {
      const head = await exchange.head();
      if (head?.status !== 200) throw new Error(`status ${head?.status}`);
      const load = parseEngineLoad(await readText(exchange));
      signal.throwIfAborted();
      if (load === undefined) throw new Error("no running requests of vLLM, SGLang or llama-server in it");
      return load;
    } finally {
      exchange.release();
    }
  }
}
