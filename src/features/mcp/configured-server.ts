/** One server of the configuration: connections to it, and what is remembered of it while it stays the same. */

import type { Logger } from "../../kernel/logger.ts";
import type { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import { secretRedactor, secretsIn } from "../../kernel/redact-secrets.ts";
import { Secret } from "../../kernel/secret.ts";
import { type Account, openHttpTransport } from "./http-transport.ts";
import {
  type ConnectionWatch,
  type KnownEra,
  McpConnection,
  type McpConnectionOptions,
  type ServerFacts,
} from "./mcp-connection.ts";
import type { McpOffer, McpTool, OfferKind } from "./mcp-offer.ts";
import { describeFailure } from "./mcp-result.ts";
import { FAILED_LIST_MS, LIST_MS, listOnce } from "./offer-lists.ts";
import { ApiDocument } from "./openapi/api-document.ts";
import { OpenApiTransport } from "./openapi/openapi-transport.ts";
import { ServerProcess } from "./server-process.ts";
import type { McpServerSettings } from "./settings.ts";

/** What a connection is for. */
export type ConnectOptions = Pick<McpConnectionOptions, "peer" | "onResourceUpdated">;

/** What a connection has in place of, or beside, the headers of the configuration: the caller's header or account. */
export interface Credentials {
  authorization?: string | undefined;
  openAccount?: (() => Promise<Account>) | undefined;
}

/** What the last list of a server's tools showed. */
export interface ServerState {
  /** Undefined: its tools are being listed for the first time. */
  checkedAt: number | undefined;
  durationMs: number | undefined;
  tools: readonly McpTool[];
  /** Why it did not list its tools. */
  problem: string | undefined;
  /** True: the caller has to connect an account first. */
  needsAccount?: boolean;
  facts: ServerFacts | undefined;
}

export const CONNECT_TIMEOUT_MS = 10_000;
/** Programs may have to be downloaded first, as by npx, or load an interpreter's libraries. */
const PROCESS_START_TIMEOUT_MS = 60_000;
/** Bytes of all answers of a connection to a server whose results may have `maxResultSize`: JSON and base64 take more. */
const OVERHEAD = { factor: 4, bytes: 4 * 1024 * 1024 };
/** State of a server that was never asked. */
export const NOT_LISTED: ServerState = {
  checkedAt: undefined,
  durationMs: undefined,
  tools: [],
  problem: undefined,
  facts: undefined,
};

export interface ConfiguredServerOptions {
  guard: OutgoingGuard;
  logger: Logger;
}

export class ConfiguredServer {
  /** Replaced by settings that are the same for connections. */
  settings: McpServerSettings;
  readonly #options: ConfiguredServerOptions;
  readonly #connections = new Set<McpConnection>();
  readonly #lists = new Map<OfferKind, { entries: Promise<McpOffer[OfferKind]>; until: number }>();
  #process: ServerProcess | undefined;
  #document: ApiDocument | undefined;
  #era: KnownEra | undefined;
  #state: ServerState = NOT_LISTED;
  #retired: Error | undefined;

  constructor(settings: McpServerSettings, options: ConfiguredServerOptions) {
    this.settings = settings;
    this.#options = options;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Returns a connection, which the user closes with `release`. Requests of several clients share that to a process. */
  connect({ authorization, openAccount }: Credentials, options: ConnectOptions = {}) {
    if (this.#retired !== undefined) throw this.#retired;
    if (this.settings.command !== undefined) {
      return { connection: this.#startedProcess().connect(), release: async () => {} };
    }
    const headers = { ...this.#headers, ...(authorization !== undefined && { authorization }) };
    const connection = new McpConnection({
      openTransport: async (watch) => this.#openTransport(headers, await openAccount?.(), watch),
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      redact: secretRedactor([...secretsIn(headers), ...this.#secretsOfAddress]),
      era: this.#era,
      onEra: (era, facts) => {
        this.#era = era;
        this.#noteFacts(facts);
      },
      ...options,
    });
    this.#connections.add(connection);
    return {
      connection,
      release: async () => {
        this.#connections.delete(connection);
        // It may have been upgraded to the other era, which the next connection finds out.
        if (connection.hasFailed) this.#era = undefined;
        await connection.close();
      },
    };
  }

  async #openTransport(
    headers: Readonly<Record<string, string>>,
    account: Account | undefined,
    watch: ConnectionWatch,
  ) {
    const { url = "", openapi, maxResultSize } = this.settings;
    const { dispatcher } = this.#options.guard;
    if (openapi === undefined) {
      const maxBytes = maxBytesOf(maxResultSize);
      return openHttpTransport({ url, headers, dispatcher, maxBytes, account }, watch);
    }
    const api = await this.#openedDocument(openapi).read();
    return new OpenApiTransport({ api, headers, dispatcher, maxBytes: maxResultSize, account, watch });
  }

  get #headers(): Record<string, string> {
    const headers = Object.entries(this.settings.headers);
    return Object.fromEntries(headers.map(([header, value]) => [header.toLowerCase(), value.reveal()]));
  }

  /** An API may take its key in the query, and repeat the address in its answers. */
  get #secretsOfAddress(): string[] {
    const { url, openapi } = this.settings;
    if (url === undefined || openapi === undefined) return [];
    return secretsIn(Object.fromEntries(new URL(url).searchParams));
  }

  #openedDocument(location: string): ApiDocument {
    const { name, url } = this.settings;
    const { guard, logger } = this.#options;
    const { dispatcher } = guard;
    this.#document ??= new ApiDocument({ server: name, location, url, headers: this.#headers, dispatcher, logger });
    return this.#document;
  }

  /** All requests share one list, and one request for it. */
  list<Kind extends OfferKind>(kind: Kind): Promise<McpOffer[Kind]> {
    const cached = this.#lists.get(kind);
    if (cached !== undefined && Date.now() < cached.until) return cached.entries as Promise<McpOffer[Kind]>;
    const beganAt = performance.now();
    const connect = () => this.connect({});
    const entries = listOnce(kind, connect, new AbortController().signal, this.#startTimeoutMs);
    this.#lists.set(kind, { entries, until: Date.now() + LIST_MS });
    const noteState = (state: Partial<Pick<ServerState, "tools">> & Pick<ServerState, "problem">) => {
      if (kind !== "tools") return;
      const durationMs = Math.round(performance.now() - beganAt);
      this.#state = { ...this.#state, checkedAt: Date.now(), durationMs, ...state };
    };
    entries.then(
      (list) => noteState({ tools: list as readonly McpTool[], problem: undefined }),
      (failure) => {
        noteState({ problem: describeFailure(failure) });
        this.#lists.set(kind, { entries, until: Date.now() + FAILED_LIST_MS });
      },
    );
    return entries;
  }

  /** Connects, lists the tools and resolves with the state, also of a failure. */
  async probe(signal: AbortSignal): Promise<ServerState> {
    const beganAt = performance.now();
    const result = await listOnce("tools", () => this.connect({}), signal, this.#startTimeoutMs).then(
      (tools) => ({ tools, problem: undefined }),
      (failure: unknown) => ({ tools: [], problem: describeFailure(failure) }),
    );
    const durationMs = Math.round(performance.now() - beganAt);
    return { ...result, facts: this.#state.facts, checkedAt: Date.now(), durationMs };
  }

  get #startTimeoutMs(): number | undefined {
    return this.settings.command === undefined ? undefined : PROCESS_START_TIMEOUT_MS;
  }

  /** Takes no further requests, and resolves once those that run have ended and its connections are closed. */
  async retire(): Promise<void> {
    const reason = new Error("The operator has removed or changed it meanwhile. Send the request again.");
    this.#retired = reason;
    const closing = [...this.#connections].map((connection) => connection.retire(reason));
    await Promise.allSettled([...closing, this.#process?.retire(reason)]);
  }

  /** Ends its process, and with it what runs there. */
  async close(): Promise<void> {
    await this.#process?.close();
  }

  #startedProcess(): ServerProcess {
    const { name, command = [], environment, maxMemory, maxResultSize } = this.settings;
    this.#process ??= new ServerProcess({
      ...{ name, command, environment, maxMemoryBytes: maxMemory },
      maxBytes: maxBytesOf(maxResultSize),
      connectTimeoutMs: PROCESS_START_TIMEOUT_MS,
      onFacts: (facts) => this.#noteFacts(facts),
      onListChanged: (kind) => this.#lists.delete(kind),
      logger: this.#options.logger,
    });
    return this.#process;
  }

  #noteFacts(facts: ServerFacts): void {
    // The protocol within the process is not the API's.
    const protocolVersion = this.settings.openapi === undefined ? facts.protocolVersion : undefined;
    this.#state = { ...this.#state, facts: { ...facts, protocolVersion } };
  }
}

/** Whether connections with both settings are the same: access, prices and the like are not theirs. */
export function connectsAs(a: McpServerSettings, b: McpServerSettings): boolean {
  return connectionText(a) === connectionText(b);
}

function connectionText(settings: McpServerSettings): string {
  const { url, openapi, command, environment, maxMemory, headers, oauth, maxResultSize } = settings;
  const connection = { url, openapi, command, environment, maxMemory, headers, oauth, maxResultSize };
  return JSON.stringify(connection, function (key) {
    const value: unknown = (this as Record<string, unknown>)[key];
    return value instanceof Secret ? value.reveal() : value;
  });
}

export function maxBytesOf(maxResultSize: number): number {
  return maxResultSize * OVERHEAD.factor + OVERHEAD.bytes;
}
