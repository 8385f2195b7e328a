/** A connection to one MCP server, over HTTP or to a process: opened by the first call, in either era of the protocol. */

import type {
  CallToolResult,
  Client,
  DiscoverResult,
  Tool as McpTool,
  Progress,
  Transport,
} from "@modelcontextprotocol/client";
import { untilAborted } from "../../kernel/async/until-aborted.ts";
import { VERSION } from "../../kernel/version.ts";

export type { CallToolResult, McpTool };

/** What a server speaks, which saves later connections the question. */
export type KnownEra = { kind: "modern"; discover: DiscoverResult } | { kind: "legacy" };

/** What a server said of itself when a connection to it was opened. */
export interface ServerFacts {
  /** Version of the protocol, such as `2025-11-25`. */
  protocolVersion: string | undefined;
  /** Name and version of the software. */
  software: { name: string; version: string } | undefined;
}

/** What a transport notices. */
export interface ConnectionWatch {
  /** Ends the connection and what waits for an answer. */
  fail(error: Error): void;
  /** Whether something waits for an answer. */
  isWaiting(): boolean;
}

export interface McpConnectionOptions {
  openTransport(watch: ConnectionWatch): Promise<Transport>;
  connectTimeoutMs: number;
  era?: KnownEra | undefined;
  /** Called once the server has said what it speaks. */
  onEra?: (era: KnownEra, facts: ServerFacts) => void;
  /** Called when the other side has closed the connection. */
  onClosed?: () => void;
  /** Called when it could not be opened. */
  onFailed?: () => void;
}

/** A server that asks the caller for something, which nobody can answer within a response. */
class InputRequired extends Error {
  override readonly name = "InputRequired";
}

const ASKS = "The tool asks for further input (elicitation), which this service does not pass on.";
/** Calls are bounded by their own time; this only keeps the client's default of a minute away. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_TOOLS = 1000;

export class McpConnection {
  readonly #options: McpConnectionOptions;
  readonly #failed = new AbortController();
  #client: Promise<Client> | undefined;
  #hasAsked = false;
  #waiting = 0;

  constructor(options: McpConnectionOptions) {
    this.#options = options;
  }

  /** Whether it cannot be used again. */
  get hasFailed(): boolean {
    return this.#failed.signal.aborted;
  }

  async listTools(signal: AbortSignal): Promise<McpTool[]> {
    const { tools } = await this.#request(signal, (client, options) => client.listTools(undefined, options));
    if (tools.length > MAX_TOOLS) throw new Error(`It has ${tools.length} tools; the limit is ${MAX_TOOLS}.`);
    return tools;
  }

  async callTool(
    tool: McpTool,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    onprogress?: (progress: Progress) => void,
  ): Promise<CallToolResult> {
    this.#hasAsked = false;
    const more = { toolDefinition: tool, ...(onprogress && { onprogress }) };
    const result = await this.#request(signal, (client, options) =>
      client.callTool({ name: tool.name, arguments: input }, { ...options, ...more }),
    ).catch((error: unknown) => {
      throw this.#hasAsked || isInputRequired(error) ? new InputRequired(ASKS, { cause: error }) : error;
    });
    if (this.#hasAsked && result.isError === true) throw new InputRequired(ASKS);
    return result;
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    await client?.close().catch(() => {});
  }

  async #request<Result>(
    signal: AbortSignal,
    send: (client: Client, options: { signal: AbortSignal; timeout: number }) => Promise<Result>,
  ): Promise<Result> {
    this.#failed.signal.throwIfAborted();
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#failed.abort(error);
      this.#options.onFailed?.();
      throw error;
    });
    const ended = AbortSignal.any([signal, this.#failed.signal]);
    const answer = this.#client.then((client) => send(client, { signal: ended, timeout: NO_TIMEOUT_MS }));
    this.#waiting += 1;
    try {
      return await untilAborted(answer, ended);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #connect(): Promise<Client> {
    const { openTransport, connectTimeoutMs, era, onEra, onClosed } = this.#options;
    // A service without MCP servers does not load the library.
    const library = await import("@modelcontextprotocol/client");
    const client = new library.Client(
      { name: "parlance", version: VERSION },
      {
        versionNegotiation: { mode: "auto", probe: { timeoutMs: connectTimeoutMs } },
        inputRequired: { autoFulfill: false },
        // Compiling schemas of strangers costs time, and their patterns can take forever.
        jsonSchemaValidator: {
          getValidator: () => (value) => ({ valid: true, data: value as never, errorMessage: undefined }),
        },
      },
    );
    client.fallbackRequestHandler = async ({ method }) => {
      this.#hasAsked ||= method === "elicitation/create" || method === "sampling/createMessage";
      throw new library.ProtocolError(library.METHOD_NOT_FOUND, `${method} is not supported`);
    };
    const transport = await openTransport({
      fail: (error) => this.#failed.abort(error),
      isWaiting: () => this.#waiting > 0,
    });
    client.onclose = () => {
      this.#failed.abort(new Error("The server closed the connection."));
      onClosed?.();
    };
    const timeout = { timeout: connectTimeoutMs, signal: this.#failed.signal };
    await client.connect(transport, era === undefined ? timeout : { ...timeout, prior: era });
    const discover = client.getDiscoverResult();
    const { name, version } = client.getServerVersion() ?? {};
    onEra?.(discover === undefined ? { kind: "legacy" } : { kind: "modern", discover }, {
      protocolVersion: client.getNegotiatedProtocolVersion(),
      software: name === undefined ? undefined : { name, version: version ?? "" },
    });
    return client;
  }
}

function isInputRequired(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === "UNSUPPORTED_RESULT_TYPE" || code === "INPUT_REQUIRED_ROUNDS_EXCEEDED";
}
