/** The process of a server that the configuration names: starts with its first call, and again after it has ended. */

import type { Logger } from "../../kernel/logger.ts";
import { endWithService } from "../../kernel/process/end-with-service.ts";
import { lowerPriority } from "../../kernel/process/lower-priority.ts";
import { RestartBackoff } from "../../kernel/process/restart-backoff.ts";
import { secretRedactor, secretsIn } from "../../kernel/redact-secrets.ts";
import type { Secret } from "../../kernel/secret.ts";
import { type KnownEra, McpConnection, type ServerFacts } from "./mcp-connection.ts";
import type { OfferKind } from "./mcp-offer.ts";

export interface ServerProcessOptions {
  name: string;
  /** Program and arguments. */
  command: readonly string[];
  environment: Readonly<Record<string, Secret>>;
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

export class ServerProcess {
  readonly #options: ServerProcessOptions;
  #connection: McpConnection | undefined;
  #era: KnownEra | undefined;
  #startedAt = 0;
  readonly #backoff = new RestartBackoff(RESTART);
  #nextStartAt = 0;
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
      openTransport: () => this.#start(),
      connectTimeoutMs: this.#options.connectTimeoutMs,
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

  async #start() {
    const { StdioClientTransport, getDefaultEnvironment } = await import("@modelcontextprotocol/client/stdio");
    const { name, command, maxBytes, logger } = this.#options;
    const env = { ...getDefaultEnvironment(), ...this.#environment };
    const [program = "", ...args] = await endWithService(command, env.PATH);
    const transport = new StdioClientTransport({
      command: program,
      args,
      env,
      stderr: "pipe",
      maxBufferSize: maxBytes,
    });
    const start = transport.start.bind(transport);
    transport.start = async () => {
      await start();
      if (transport.pid !== null) lowerPriority(transport.pid);
    };
    transport.stderr?.on("data", (chunk: Buffer) => {
      const text = chunk.toString().trim().slice(0, MAX_LOG_LINE);
      if (text !== "") logger.debug({ mcpServer: name, text }, "an MCP server wrote to its standard error");
    });
    return transport;
  }

  get #environment(): Record<string, string> {
    const { environment } = this.#options;
    return Object.fromEntries(Object.entries(environment).map(([variable, value]) => [variable, value.reveal()]));
  }

  #ended(connection: McpConnection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    if (this.#closed !== undefined) return;
    const now = Date.now();
    const restartSeconds = this.#backoff.next((now - this.#startedAt) / 1000);
    this.#nextStartAt = now + restartSeconds * 1000;
    const { name, logger } = this.#options;
    logger.warn({ mcpServer: name, restartSeconds }, "the process of an MCP server has ended");
  }
}
