/** The process of a server that the configuration names: starts with its first call, and again after it has ended. */

import type { Logger } from "../../kernel/logger.ts";
import { watchBudget } from "../../kernel/process/child-budget.ts";
import { endWithService } from "../../kernel/process/end-with-service.ts";
import { lowerPriority } from "../../kernel/process/lower-priority.ts";
import { killTree } from "../../kernel/process/process-usage.ts";
import { RestartBackoff } from "../../kernel/process/restart-backoff.ts";
import { secretRedactor, secretsIn } from "../../kernel/redact-secrets.ts";
import type { Secret } from "../../kernel/secret.ts";
import { boundLines } from "./bound-lines.ts";
import { type ConnectionWatch, type KnownEra, McpConnection, type ServerFacts } from "./mcp-connection.ts";
import type { OfferKind } from "./mcp-offer.ts";

export interface ServerProcessOptions {
  name: string;
  /** Program and arguments. */
  command: readonly string[];
  environment: Readonly<Record<string, Secret>>;
  /** Resident memory of the process with all that it starts. */
  maxMemoryBytes: number;
  /** Bytes of one message. */
  maxBytes: number;
  connectTimeoutMs: number;
  /** Called each time the process has said what it is. */
  onFacts: (facts: ServerFacts) => void;
  logger: Logger;
  onListChanged: (kind: OfferKind) => void;
}

const RESTART = { firstSeconds: 0.5, lastSeconds: 60, stableSeconds: 60 };
const MAX_LOG_LINE = 500;
/** More than what a pipe gives at once. */
const READ_BYTES = 2 ** 20;
/** A browser that a server starts has hundreds of threads, whose children are read one by one. */
const MEMORY_POLL_MS = 1_000;

export class ServerProcess {
  readonly #options: ServerProcessOptions;
  #connection: McpConnection | undefined;
  #era: KnownEra | undefined;
  #startedAt = 0;
  readonly #backoff = new RestartBackoff(RESTART);
  #nextStartAt = 0;
  #stopWatching: () => void = () => {};
  /** Why it does not start again. */
  #closed: Error | undefined;

  constructor(options: ServerProcessOptions) {
    this.#options = options;
  }

  /** Returns the connection to the running process, which starts if it has to. Throws while it has to wait for that. */
  connect(): McpConnection {
    if (this.#closed !== undefined) throw this.#closed;
    if (this.#connection !== undefined) return this.#connection;
    const waitMs = this.#nextStartAt - Date.now();
    if (waitMs > 0) {
      throw new Error(`Its process has ended, and starts again in ${Math.ceil(waitMs / 1000)} s.`);
    }
    this.#startedAt = Date.now();
    const connection = new McpConnection({
      openTransport: (watch) => this.#start(watch),
      connectTimeoutMs: this.#options.connectTimeoutMs,
      isShared: true,
      redact: secretRedactor(secretsIn(this.#environment)),
      era: this.#era,
      onEra: (era, facts) => {
        this.#era = era;
        this.#options.onFacts(facts);
      },
      onListChanged: this.#options.onListChanged,
      onClosed: () => this.#ended(connection),
      onFailed: () => this.#ended(connection),
    });
    this.#connection = connection;
    return connection;
  }

  /** Takes no further requests, and resolves once those that run have ended and the process has, too. */
  async retire(reason: Error): Promise<void> {
    this.#closed = reason;
    await this.#connection?.retire(reason);
  }

  async close(): Promise<void> {
    this.#closed ??= new Error("The service is stopping.");
    await this.#connection?.close();
  }

  async #start(watch: ConnectionWatch) {
    const { StdioClientTransport, getDefaultEnvironment } = await import("@modelcontextprotocol/client/stdio");
    const { name, command, maxBytes, logger } = this.#options;
    const env = { ...getDefaultEnvironment(), ...this.#environment };
    const [program = "", ...args] = await endWithService(command, env.PATH);
    const transport = new StdioClientTransport({
      command: program,
      args,
      env,
      stderr: "pipe",
      maxBufferSize: maxBytes + READ_BYTES,
    });
    boundLines(transport, maxBytes);
    const start = transport.start.bind(transport);
    transport.start = async () => {
      await start();
      if (transport.pid === null) return;
      lowerPriority(transport.pid);
      this.#watchMemory(transport.pid, watch);
    };
    transport.stderr?.on("data", (chunk: Buffer) => {
      const text = chunk.toString().trim().slice(0, MAX_LOG_LINE);
      if (text !== "") logger.debug({ mcpServer: name, text }, "an MCP server wrote to its standard error");
    });
    return transport;
  }

  #watchMemory(pid: number, watch: ConnectionWatch): void {
    const { name, maxMemoryBytes, logger } = this.#options;
    const exceed = () => {
      logger.warn({ mcpServer: name, maxMemoryBytes }, "the process of an MCP server exceeded its max_memory");
      const megabytes = Math.round(maxMemoryBytes / 2 ** 20).toLocaleString("en");
      watch.fail(new Error(`Its process used more than ${megabytes} MiB of memory, its max_memory, and was ended.`));
      killTree(pid);
    };
    this.#stopWatching = watchBudget(pid, { residentBytes: maxMemoryBytes }, exceed, MEMORY_POLL_MS);
  }

  get #environment(): Record<string, string> {
    const { environment } = this.#options;
    return Object.fromEntries(Object.entries(environment).map(([variable, value]) => [variable, value.reveal()]));
  }

  #ended(connection: McpConnection): void {
    if (this.#connection !== connection) return;
    this.#stopWatching();
    this.#connection = undefined;
    if (this.#closed !== undefined) return;
    const now = Date.now();
    const restartSeconds = this.#backoff.next((now - this.#startedAt) / 1000);
    this.#nextStartAt = now + restartSeconds * 1000;
    const { name, logger } = this.#options;
    logger.warn({ mcpServer: name, restartSeconds }, "the process of an MCP server has ended");
  }
}
