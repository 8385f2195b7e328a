/**
 * The tools of all servers behind one address, for MCP clients, and those of each server behind one more. Each request is
 * complete in itself, so any replica answers.
 */

import { setImmediate } from "node:timers/promises";
import type { McpHttpHandler, Progress, Server } from "@modelcontextprotocol/server";
import { guardToolCall, isRefusal } from "../../inference/guardrails/guard-tool.ts";
import type { Inference } from "../../inference/inference.ts";
import type { OnDisconnect } from "../../inference/on-disconnect.ts";
import { withTimeout } from "../../kernel/async/timeout.ts";
import { Fault } from "../../kernel/faults.ts";
import { VERSION } from "../../kernel/version.ts";
import type { Logger } from "../../observability/logger.ts";
import { serviceFunctionName } from "../../wire/responses/responses-tools.ts";
import type { Caller } from "../accounts/caller.ts";
import { guardToolResult, unreadableIn } from "./guard-tool-result.ts";
import { logged, runOptions } from "./mcp-call.ts";
import type { McpCallLog } from "./mcp-call-log.ts";
import type { McpCallSource } from "./mcp-call-rows.ts";
import type { CallToolResult, McpTool } from "./mcp-connection.ts";
import { describeFailure } from "./mcp-result.ts";
import type { McpServer, McpServers } from "./mcp-servers.ts";
import { SERVICE_NAME, type ServiceServer } from "./service-server.ts";

/** Time for which a client waits for the list of one server. */
const LIST_WAIT_MS = 5_000;

/** One request of a client. */
export interface GatewayRequest {
  caller: Caller;
  source: McpCallSource;
  /** Server whose tools are offered, by their plain names; undefined: all servers. */
  server?: string | undefined;
  onDisconnect: OnDisconnect;
  /** Called with the tool of a call, once it is known. */
  onCall(server: string, tool: string): void;
  /** Called when a call has failed. */
  onFailure(failure: Fault): void;
}

interface OfferedTool {
  /** As clients call it: at the address of all servers, the server's name, `__` and the tool's. */
  name: string;
  server: McpServer;
  tool: McpTool;
}

export interface McpGatewayOptions {
  servers: McpServers;
  inference: Inference;
  logger: Logger;
  log: McpCallLog;
  /** Undefined: the service's own operations are not offered. */
  service: ServiceServer | undefined;
}

export class McpGateway {
  readonly #servers: McpServers;
  readonly #inference: Inference;
  readonly #logger: Logger;
  /** Undefined: the service's own operations are not offered. */
  readonly #service: ServiceServer | undefined;
  readonly #log: McpCallLog;
  #handler: Promise<McpHttpHandler> | undefined;

  constructor({ servers, inference, logger, log, service }: McpGatewayOptions) {
    this.#service = service;
    this.#servers = servers;
    this.#inference = inference;
    this.#logger = logger;
    this.#log = log;
  }

  /** Answers a request whose JSON body is `message`. */
  async answer(message: unknown, request: Request, context: GatewayRequest): Promise<Response> {
    this.#handler ??= this.#create();
    const handler = await this.#handler;
    const authInfo = { token: "", clientId: context.caller.keyId, scopes: [], extra: { context } };
    return handler.fetch(request, { parsedBody: message, authInfo });
  }

  async close(): Promise<void> {
    await (await this.#handler)?.close();
  }

  /** Calls one tool of a server that the caller may use. Throws a Fault. */
  async callTool(
    server: McpServer,
    name: string,
    input: Readonly<Record<string, unknown>>,
    context: GatewayRequest,
  ): Promise<CallToolResult> {
    const tool = await findTool(server, name);
    return this.#call({ name, server, tool }, input, context, undefined);
  }

  async #create(): Promise<McpHttpHandler> {
    const library = await import("@modelcontextprotocol/server");
    const { createMcpHandler, Server, ProtocolError, INVALID_PARAMS, INTERNAL_ERROR } = library;
    return createMcpHandler(({ authInfo }) => {
      const { context } = (authInfo as unknown as { extra: { context: GatewayRequest } }).extra;
      const server: Server = new Server({ name: "parlance", version: VERSION }, { capabilities: { tools: {} } });
      server.setRequestHandler("tools/list", async () => {
        if (context.server === SERVICE_NAME) return { tools: this.#service?.listTools(context.caller) ?? [] };
        const offered = await this.#offeredTo(context);
        return { tools: offered.map(({ name, tool }) => ({ ...tool, name })) };
      });
      server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
        if (context.server === SERVICE_NAME) {
          const result = await this.#callService(params.name, params.arguments ?? {}, context);
          if (result !== undefined) return result;
        }
        const offered = await this.#offeredTo(context, params.name);
        const match = offered.find(({ name }) => name === params.name);
        if (match === undefined) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${params.name.slice(0, 200)}`);
        const progressToken = mcpReq._meta?.progressToken;
        const sending: Promise<unknown>[] = [];
        const onProgress = (progress: Progress) => {
          const notification = { method: "notifications/progress", params: { ...progress, progressToken } };
          // The client may have left.
          sending.push(mcpReq.notify(notification as never).catch(() => {}));
        };
        try {
          const reports = progressToken === undefined ? undefined : onProgress;
          const result = await this.#call(match, params.arguments ?? {}, context, reports);
          if (reports === undefined) return result;
          // The client library dispatches notifications after the results that came with them.
          await setImmediate();
          await Promise.all(sending);
          return result;
        } catch (failure) {
          if (!(failure instanceof Fault)) throw failure;
          context.onFailure(failure);
          // The client's model reads it, and goes on.
          if (isRefusal(failure)) return { isError: true, content: [{ type: "text", text: failure.message }] };
          throw new ProtocolError(INTERNAL_ERROR, failure.message);
        }
      });
      return server;
    });
  }

  /** Whether a caller may use any tool of a server. */
  isVisible(server: string, caller: Caller): boolean {
    if (server === SERVICE_NAME) return this.#service !== undefined;
    return this.#servers.find(server, caller) !== undefined;
  }

  /** The request to the API is counted, billed and logged like one that the client makes. */
  async #callService(name: string, input: Readonly<Record<string, unknown>>, context: GatewayRequest) {
    const leaving = new AbortController();
    context.onDisconnect(() => leaving.abort(new Fault("client-left", "The client left.")));
    context.onCall(SERVICE_NAME, name);
    return this.#service?.callTool(name, input, context.caller, leaving.signal);
  }

  /** Lists the tools that a caller may use, of the server of a name only. A server that does not answer is left out. */
  async #offeredTo({ caller, server: only }: GatewayRequest, name?: string): Promise<OfferedTool[]> {
    // Names of servers have no underscores.
    const isAsked = (server: McpServer) =>
      only === undefined ? name === undefined || name.startsWith(`${server.name}__`) : server.name === only;
    const nameOf = (server: McpServer, tool: McpTool) =>
      only === undefined ? serviceFunctionName(tool.name, server.name) : tool.name;
    const servers = this.#servers.visibleTo(caller).filter(isAsked);
    const lists = servers.map(async (server) => {
      try {
        const tools = await withTimeout(server.listTools(new AbortController().signal), LIST_WAIT_MS);
        const allowed = tools.filter(({ name }) => server.allows(name));
        return allowed.map((tool) => ({ name: nameOf(server, tool), server, tool }));
      } catch (failure) {
        const reason = describeFailure(failure);
        this.#logger.warn({ mcpServer: server.name, reason }, "an MCP server did not list its tools");
        return [];
      }
    });
    return (await Promise.all(lists)).flat();
  }

  /** Throws a Fault for a call that a guardrail or limit refuses, or whose server fails. */
  async #call(
    offered: OfferedTool,
    input: Readonly<Record<string, unknown>>,
    context: GatewayRequest,
    onProgress: ((progress: Progress) => void) | undefined,
  ): Promise<CallToolResult> {
    const { server, tool } = offered;
    context.onCall(server.name, tool.name);
    const name = `mcp/${server.name}/${tool.name}`;
    const guards = this.#inference.guardsOfTool(context.caller, name, context.onDisconnect);
    if (guards === undefined) return this.#run(offered, input, context, onProgress);
    try {
      const guarded = await guardToolCall(guards, input, "client");
      // Nothing checks the texts of progress.
      const report = onProgress && (({ message: _unchecked, ...progress }: Progress) => onProgress(progress));
      const result = await this.#run(offered, guarded.input, context, report);
      return await guardToolResult(result, guarded.guardResult, unreadableIn(result));
    } finally {
      guards.end();
    }
  }

  async #run(
    { server, tool }: OfferedTool,
    input: Readonly<Record<string, unknown>>,
    { caller, source, onDisconnect }: GatewayRequest,
    onProgress: ((progress: Progress) => void) | undefined,
  ): Promise<CallToolResult> {
    const { connection, release } = connectTo(server);
    const run = () =>
      this.#inference.runTool(caller, runOptions(server, tool.name), onDisconnect, (signal) =>
        connection.callTool(tool, input, signal, onProgress),
      );
    try {
      const { value, failure } = await logged(this.#log, { caller, server, tool: tool.name, source }, run);
      if (value === undefined) throw serverFailed(server.name, describeFailure(failure), failure);
      const bytes = Buffer.byteLength(JSON.stringify(value));
      if (bytes <= server.maxResultBytes) return value;
      throw serverFailed(server.name, `The result has ${bytes} bytes; the limit is ${server.maxResultBytes}.`);
    } finally {
      void release();
    }
  }
}

async function findTool(server: McpServer, name: string): Promise<McpTool> {
  let tools: readonly McpTool[];
  try {
    tools = await withTimeout(server.listTools(new AbortController().signal), LIST_WAIT_MS);
  } catch (failure) {
    throw serverFailed(server.name, describeFailure(failure), failure);
  }
  const tool = tools.find((each) => each.name === name && server.allows(name));
  if (tool !== undefined) return tool;
  const message = `The MCP server '${server.name}' has no tool '${name.slice(0, 100)}' that this project may use.`;
  throw new Fault("not-found", message, { code: "mcp_tool_not_found", param: "name" });
}

function connectTo(server: McpServer) {
  try {
    return server.connect();
  } catch (failure) {
    throw serverFailed(server.name, describeFailure(failure), failure);
  }
}

function serverFailed(server: string, reason: string, cause?: unknown): Fault {
  const message = `The MCP server '${server}' failed. ${reason}`;
  return new Fault("upstream-failed", message, { code: "mcp_server_failed", cause });
}
