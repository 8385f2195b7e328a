/** A connection to one MCP server, over HTTP or to a process: opened by the first call, in either era of the protocol. */

import type {
  CallToolResult,
  Client,
  CompleteRequestParams,
  CompleteResult,
  DiscoverResult,
  GetPromptResult,
  ReadResourceResult,
  Transport,
} from "@modelcontextprotocol/client";
import { withTimeout } from "../../kernel/async/timeout.ts";
import { untilAborted } from "../../kernel/async/until-aborted.ts";
import { VERSION } from "../../kernel/version.ts";
import { type McpOffer, type McpTool, type OfferKind, readOffer } from "./mcp-offer.ts";
import { boundMessages } from "./message-bounds.ts";
import { type NotificationListeners, observe } from "./notifications.ts";
import {
  answersTo,
  declares,
  type InputRequiredResult,
  isInputRequiredResult,
  metaOf,
  type Peer,
  QUESTIONS,
} from "./peer.ts";
import { collectCancellations, deliverInOrder, redactMessages } from "./watch-transport.ts";

export type { CallToolResult, CompleteResult, GetPromptResult, McpTool, ReadResourceResult };

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

export interface McpConnectionOptions extends NotificationListeners {
  openTransport(watch: ConnectionWatch): Promise<Transport>;
  connectTimeoutMs: number;
  /** Whether requests of several callers run on it at once. */
  isShared?: boolean;
  /** Removes what the service sends to the server with each request, such as a token, from its messages. */
  redact?: (text: string) => string;
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

const ASKS =
  "It asks for further input (elicitation or sampling), which this client cannot answer or gets no request for.";
/** Calls are bounded by their own time; this only keeps the client's default of a minute away. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
const ACKNOWLEDGE_MS = 10_000;
const CANCEL_MS = 1_000;
/** Times that one call may ask for input, in results and by requests. */
const MAX_ROUNDS = 10;
const MAX_QUESTIONS = 100;

type Method = "tools/call" | "prompts/get" | "resources/read" | "completion/complete";

export class McpConnection {
  readonly #options: McpConnectionOptions;
  readonly #failed = new AbortController();
  #client: Promise<Client> | undefined;
  /** Notifications on their way to the server. */
  readonly #cancellations = new Set<Promise<void>>();
  /** Resolves once it is closed after `retire`. */
  readonly #closed = Promise.withResolvers<void>();
  #retired: Error | undefined;
  #hasAsked = false;
  /** Requests for input to the client, which has this connection for one call. */
  #questions = 0;
  #waiting = 0;

  constructor(options: McpConnectionOptions) {
    this.#options = options;
  }

  /** Whether it cannot be used again. */
  get hasFailed(): boolean {
    return this.#failed.signal.aborted;
  }

  list<Kind extends OfferKind>(kind: Kind, signal: AbortSignal): Promise<McpOffer[Kind]> {
    return this.#send(signal, (client, options) => readOffer(kind, client, options));
  }

  /** `peer`: the client of this call. A result that asks for input is returned if it can answer with its next request. */
  callTool(tool: McpTool, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<CallToolResult>;
  callTool(
    ...call: [tool: McpTool, input: Readonly<Record<string, unknown>>, signal: AbortSignal, peer: Peer]
  ): Promise<CallToolResult | InputRequiredResult>;
  callTool(tool: McpTool, input: Readonly<Record<string, unknown>>, signal: AbortSignal, peer?: Peer) {
    return this.#ask<CallToolResult>("tools/call", { name: tool.name, arguments: input }, { signal, peer, tool });
  }

  getPrompt(
    name: string,
    input: Readonly<Record<string, string>>,
    signal: AbortSignal,
    peer: Peer,
  ): Promise<GetPromptResult | InputRequiredResult> {
    return this.#ask("prompts/get", { name, arguments: input }, { signal, peer });
  }

  readResource(uri: string, signal: AbortSignal, peer: Peer): Promise<ReadResourceResult | InputRequiredResult> {
    return this.#ask("resources/read", { uri }, { signal, peer });
  }

  async complete(params: CompleteRequestParams, signal: AbortSignal): Promise<CompleteResult> {
    return this.#send(signal, async (client, options) =>
      client.getServerCapabilities()?.completions === undefined
        ? { completion: { values: [] } }
        : client.complete(params, options),
    );
  }

  /** Asks for notifications about a resource, until the connection closes. */
  async subscribe(uris: readonly string[], signal: AbortSignal): Promise<void> {
    await this.#send(signal, async (client, options) => {
      if (client.getServerCapabilities()?.resources?.subscribe !== true) return;
      if (client.getProtocolEra() === "modern") {
        await client.listen({ resourceSubscriptions: [...uris] }, { ...options, timeout: ACKNOWLEDGE_MS });
        return;
      }
      for (const uri of uris) await client.subscribeResource({ uri }, options);
    });
  }

  /** Takes no further requests, and resolves once those that wait for an answer have ended and it is closed. */
  async retire(reason: Error): Promise<void> {
    this.#retired = reason;
    if (this.#waiting === 0) this.#closeRetired(reason);
    await this.#closed.promise;
  }

  #closeRetired(reason: Error): void {
    this.#failed.abort(reason);
    void this.close().finally(this.#closed.resolve);
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    // The server learns that nobody waits for its answer.
    await withTimeout(Promise.allSettled(this.#cancellations), CANCEL_MS).catch(() => {});
    await client?.close().catch(() => {});
  }

  /** Runs a method that may ask for input, which `peer.ask` answers where there is one. */
  async #ask<Result>(
    method: Method,
    params: Readonly<Record<string, unknown>>,
    { signal, peer, tool }: { signal: AbortSignal; peer: Peer | undefined; tool?: McpTool },
  ): Promise<Result | InputRequiredResult> {
    this.#hasAsked = false;
    const { ask, logLevel, hasChosenLevel, onProgress, inputResponses, requestState } = peer ?? {};
    const result = await this.#send(signal, async (client, options) => {
      const isModern = client.getProtocolEra() === "modern";
      const meta = isModern && { _meta: metaOf(peer) };
      const setsLevel = !isModern && hasChosenLevel === true && client.getServerCapabilities()?.logging !== undefined;
      if (setsLevel && logLevel !== undefined) await client.setLoggingLevel(logLevel, options);
      const more = {
        ...options,
        allowInputRequired: true,
        ...(tool && { toolDefinition: tool }),
        ...(onProgress && { onprogress: onProgress }),
      };
      const send = async (answers: object): Promise<unknown> => {
        const sent = { ...params, ...answers, ...meta } as never;
        return tool === undefined ? client.request({ method, params: sent }, more) : client.callTool(sent, more);
      };
      let answer = await send({ ...(inputResponses && { inputResponses }), ...(requestState && { requestState }) });
      for (let round = 0; ask !== undefined && isInputRequiredResult(answer) && declares(peer, answer); round += 1) {
        if (round === MAX_ROUNDS) throw new Error(`It asked for input ${MAX_ROUNDS} times, the limit for one call.`);
        answer = await send(await answersTo(answer, (name, question) => ask(name, question, options.signal)));
      }
      return answer as Result | InputRequiredResult;
    }).catch((error: unknown) => {
      throw this.#hasAsked ? new InputRequired(ASKS, { cause: error }) : error;
    });
    const canAnswer = !isInputRequiredResult(result) || declares(peer, result);
    const hasFailed = this.#hasAsked && (result as CallToolResult).isError === true;
    if (hasFailed || !canAnswer) throw new InputRequired(ASKS);
    return result;
  }

  async #send<Result>(
    signal: AbortSignal,
    send: (client: Client, options: { signal: AbortSignal; timeout: number }) => Promise<Result>,
  ): Promise<Result> {
    this.#failed.signal.throwIfAborted();
    if (this.#retired !== undefined) throw this.#retired;
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
      if (this.#retired !== undefined && this.#waiting === 0) this.#closeRetired(this.#retired);
    }
  }

  async #connect(): Promise<Client> {
    const { openTransport, connectTimeoutMs, redact, era, onEra, onClosed, peer, isShared } = this.#options;
    // A service without MCP servers does not load the library.
    const library = await import("@modelcontextprotocol/client");
    const client = new library.Client(
      { name: "parlance", version: VERSION },
      {
        versionNegotiation: { mode: "auto", probe: { timeoutMs: connectTimeoutMs } },
        // A client that nobody can ask within the call has nothing to declare.
        capabilities: peer?.ask === undefined ? {} : peer.capabilities,
        inputRequired: { autoFulfill: false },
        // Compiling schemas of strangers costs time, and their patterns can take forever.
        jsonSchemaValidator: {
          getValidator: () => (value) => ({ valid: true, data: value as never, errorMessage: undefined }),
        },
      },
    );
    client.fallbackRequestHandler = async ({ method, params = {} }, { mcpReq }) => {
      const capability = QUESTIONS[method];
      if (capability !== undefined && peer?.ask !== undefined && peer.capabilities[capability] !== undefined) {
        this.#questions += 1;
        if (this.#questions <= MAX_QUESTIONS) return peer.ask(method, params, mcpReq.signal);
        this.#failed.abort(new Error(`It asked for input ${MAX_QUESTIONS} times, the limit for one call.`));
      }
      this.#hasAsked ||= capability !== undefined;
      throw new library.ProtocolError(library.METHOD_NOT_FOUND, `${method} is not supported`);
    };
    observe(client, this.#options);
    const transport = await openTransport({
      fail: (error) => this.#failed.abort(error),
      isWaiting: () => this.#waiting > 0,
    });
    boundMessages(transport, {
      isShared,
      onExceeded: (failure) => {
        this.#failed.abort(failure);
        void transport.close();
      },
    });
    collectCancellations(transport, this.#cancellations);
    if (redact !== undefined) redactMessages(transport, redact);
    client.onclose = () => {
      this.#failed.abort(new Error("The server closed the connection."));
      onClosed?.();
    };
    const timeout = { timeout: connectTimeoutMs, signal: this.#failed.signal };
    await client.connect(transport, era === undefined ? timeout : { ...timeout, prior: era });
    deliverInOrder(transport);
    const discover = client.getDiscoverResult();
    const { name, version } = client.getServerVersion() ?? {};
    onEra?.(discover === undefined ? { kind: "legacy" } : { kind: "modern", discover }, {
      protocolVersion: client.getNegotiatedProtocolVersion(),
      software: name === undefined ? undefined : { name, version: version ?? "" },
    });
    return client;
  }
}
