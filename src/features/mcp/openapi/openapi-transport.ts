/** A transport within the process: an API with an OpenAPI document, as an MCP server with a tool for each operation. */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { JSONRPCMessage, JSONRPCRequest, Transport } from "@modelcontextprotocol/client";
import type { Dispatcher } from "undici";
import { readWithin } from "../../../kernel/outgoing/read-within.ts";
import { request } from "../../../kernel/outgoing/undici.ts";
import { VERSION } from "../../../kernel/version.ts";
import { isGrantFailure } from "../grants/grant-faults.ts";
import type { Account } from "../http-transport.ts";
import type { CallToolResult, ConnectionWatch } from "../mcp-connection.ts";
import type { McpTool } from "../mcp-offer.ts";
import { describeFailure } from "../mcp-result.ts";
import type { ApiOperation } from "./api-description.ts";
import type { Api } from "./api-document.ts";
import { type OperationRequest, toRequest, WrongArguments } from "./operation-request.ts";
import { failed, type OperationAnswer, toResult } from "./operation-result.ts";

export interface OpenApiTransportOptions {
  api: Api;
  /** Sent with every call; an argument sets none of them. */
  headers: Readonly<Record<string, string>>;
  dispatcher: Dispatcher;
  /** Bytes of one answer. */
  maxBytes: number;
  account: Account | undefined;
  watch: ConnectionWatch;
}

/** Characters of the tools of one page, of which the last tool may have more. */
const PAGE_LENGTH = 262_144;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

type Result = Record<string, unknown>;

/** Completes a request with an error of the protocol. */
class ProtocolFailure extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export class OpenApiTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  readonly #options: OpenApiTransportOptions;
  readonly #operations: ReadonlyMap<string, ApiOperation>;
  readonly #operatorHeaders: ReadonlySet<string>;
  readonly #running = new Map<unknown, AbortController>();

  constructor(options: OpenApiTransportOptions) {
    this.#options = options;
    this.#operations = new Map(options.api.operations.map((each) => [each.tool.name, each]));
    this.#operatorHeaders = new Set(Object.keys(options.headers).map((name) => name.toLowerCase()));
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message)) return;
    if ("id" in message) {
      void this.#answer(message);
      return;
    }
    if (message.method === "notifications/cancelled") this.#running.get(message.params?.requestId)?.abort();
  }

  async close(): Promise<void> {
    for (const running of this.#running.values()) running.abort();
    this.#running.clear();
    this.onclose?.();
  }

  async #answer({ id, method, params = {} }: JSONRPCRequest): Promise<void> {
    const running = new AbortController();
    this.#running.set(id, running);
    try {
      const result = await this.#run(method, params, running.signal);
      if (!running.signal.aborted) this.onmessage?.({ jsonrpc: "2.0", id, result });
    } catch (failure) {
      if (running.signal.aborted) return;
      // It tells the caller to connect an account, which a message of the protocol would not.
      if (isGrantFailure(failure)) return this.#options.watch.fail(failure);
      const code = failure instanceof ProtocolFailure ? failure.code : INTERNAL_ERROR;
      this.onmessage?.({ jsonrpc: "2.0", id, error: { code, message: describeFailure(failure) } });
    } finally {
      this.#running.delete(id);
    }
  }

  async #run(method: string, params: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Result> {
    switch (method) {
      case "initialize":
        return this.#introduce(params);
      case "ping":
        return {};
      case "tools/list":
        return this.#list(Number(params.cursor ?? 0));
      case "tools/call":
        return this.#call(params, signal);
      default:
        throw new ProtocolFailure(METHOD_NOT_FOUND, `${method} is not supported`);
    }
  }

  #introduce({ protocolVersion }: Readonly<Record<string, unknown>>): Result {
    const { title, version } = this.#options.api;
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: title || "OpenAPI", version } };
  }

  /** A page of the tools: the client checks each page at once, which takes seconds for those of a large API. */
  async #list(start: number): Promise<Result> {
    const { operations } = this.#options.api;
    const tools: McpTool[] = [];
    let end = start;
    for (let length = 0; end < operations.length && length < PAGE_LENGTH; end += 1) {
      const text = JSON.stringify(operations[end]?.tool);
      length += text.length;
      // Whoever reads messages may change them.
      tools.push(JSON.parse(text));
    }
    await nextTurn();
    return { tools, ...(end < operations.length && { nextCursor: String(end) }) };
  }

  async #call({ name, arguments: input }: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Result> {
    const operation = this.#operations.get(String(name));
    if (operation === undefined) throw new ProtocolFailure(INVALID_PARAMS, "There is no such operation.");
    const { base } = this.#options.api;
    try {
      const values = (input ?? {}) as Readonly<Record<string, unknown>>;
      const sent = toRequest(operation, values, { base, operatorHeaders: this.#operatorHeaders });
      return toResult(await this.#authorized(sent, signal)) satisfies CallToolResult;
    } catch (failure) {
      if (failure instanceof WrongArguments) return failed(failure.message);
      throw failure;
    }
  }

  /** Sends a request, and once more with another token where the API refuses that of the caller's account. */
  async #authorized(sent: OperationRequest, signal: AbortSignal): Promise<OperationAnswer> {
    const { account } = this.#options;
    const answer = await this.#send(sent, await account?.token(), signal);
    if (account === undefined || answer.status !== 401) return answer;
    await account.renew();
    return this.#send(sent, await account.token(), signal);
  }

  async #send(sent: OperationRequest, token: string | undefined, signal: AbortSignal): Promise<OperationAnswer> {
    const { headers, dispatcher, maxBytes } = this.#options;
    const {
      statusCode,
      headers: answered,
      body,
    } = await request(sent.url, {
      dispatcher,
      signal,
      method: sent.method as Dispatcher.HttpMethod,
      headers: {
        "user-agent": `Parlance/${VERSION}`,
        "accept-encoding": "identity",
        ...sent.headers,
        ...headers,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(sent.body !== undefined && { body: sent.body }),
    });
    const { "content-type": type, "content-encoding": encoding = "identity" } = answered;
    if (encoding !== "identity") {
      body.on("error", () => {}).destroy();
      throw new Error("The API compressed its answer, although the request does not allow that.");
    }
    const mediaType = (Array.isArray(type) ? type[0] : type)?.split(";")[0]?.trim().toLowerCase() ?? "";
    const tooLarge = () => new Error(`The answer has more than ${maxBytes} bytes, the limit (\`max_result_size\`).`);
    return { status: statusCode, mediaType, bytes: await readWithin(body, maxBytes, tooLarge) };
  }
}
