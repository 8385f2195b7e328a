/**
 * The servers behind one address, for MCP clients, and each server behind one more: tools, prompts and resources. Each
 * request is complete in itself, so any replica answers.
 */

import { setImmediate } from "node:timers/promises";
import type {
  CallToolRequest,
  ClientCapabilities,
  CompleteRequest,
  GetPromptRequest,
  McpHttpHandler,
  McpRequestContext,
  ReadResourceRequest,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";
import type { Caller } from "../../contracts/caller.ts";
import { isRefusal } from "../../inference/guardrails/guard-tool.ts";
import type { Inference } from "../../inference/inference.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";
import { VERSION } from "../../kernel/version.ts";
import type { ClientMessages } from "./client-messages.ts";
import { newSessionId, readSession, SESSION_HEADER } from "./client-session.ts";
import {
  cancellationKey,
  type GatewayClient,
  gatewayClient,
  newSessionLevels,
  questionKey,
  sessionOf,
} from "./gateway-client.ts";
import { GatewayOffers } from "./gateway-offers.ts";
import { type GatewayRequest, toProtocolError } from "./gateway-request.ts";
import { GatewayRequests, toTextResult } from "./gateway-requests.ts";
import { GatewayRuns } from "./gateway-runs.ts";
import { isConnectionRequired } from "./grants/grant-faults.ts";
import type { GuardedLists } from "./guarded-lists.ts";
import type { McpCallLog } from "./mcp-call-log.ts";
import type { CallToolResult } from "./mcp-connection.ts";
import type { McpTool, OfferKind } from "./mcp-offer.ts";
import type { McpServer, McpServers } from "./mcp-servers.ts";
import { SERVICE_NAME, type ServiceServer } from "./service-server.ts";
import type { McpToolsets } from "./toolsets.ts";

export interface McpGatewayOptions {
  servers: McpServers;
  toolsets: McpToolsets;
  inference: Inference;
  lists: GuardedLists;
  logger: Logger;
  log: McpCallLog;
  messages: ClientMessages;
  /** Undefined: the service's own operations are not offered. */
  service: ServiceServer | undefined;
}

/** A JSON-RPC message as it came. */
export interface RpcMessage {
  id?: unknown;
  method?: unknown;
  params?: { capabilities?: unknown; requestId?: unknown; [field: string]: unknown } | undefined;
  result?: unknown;
  error?: unknown;
}

const CAPABILITIES = { tools: {}, prompts: {}, resources: {}, completions: {}, logging: {} };

export class McpGateway {
  readonly #options: McpGatewayOptions;
  readonly #offers: GatewayOffers;
  readonly #requests: GatewayRequests;
  readonly #levels = newSessionLevels();
  #handler: Promise<McpHttpHandler> | undefined;

  constructor(options: McpGatewayOptions) {
    this.#options = options;
    this.#offers = new GatewayOffers(options);
    this.#requests = new GatewayRequests(this.#offers, new GatewayRuns(options.inference, options.log));
  }

  /** Answers a request whose JSON body is `message`. */
  async answer(message: RpcMessage, request: Request, context: GatewayRequest): Promise<Response> {
    const { caller } = context;
    const projectId = caller.projectId ?? "";
    const { messages } = this.#options;
    if (message.method === undefined) {
      const { id, result, error } = message;
      if (typeof id === "string") {
        await messages.deliver({ projectId, key: questionKey(projectId, id), content: { result, error } });
      }
      return new Response(null, { status: 202 });
    }
    const session = readSession(request.headers.get(SESSION_HEADER));
    if (message.method === "notifications/cancelled" && session !== undefined) {
      const key = cancellationKey(caller.keyId, session, message.params?.requestId);
      await messages.deliver({ projectId, key, content: {} });
    }
    this.#handler ??= this.#create();
    const handler = await this.#handler;
    const authInfo = { token: "", clientId: caller.keyId, scopes: [], extra: { context } };
    const answer = await handler.fetch(request, { parsedBody: message, authInfo });
    if (message.method === "initialize" && answer.ok) {
      answer.headers.set(SESSION_HEADER, newSessionId((message.params?.capabilities ?? {}) as ClientCapabilities));
    }
    return answer;
  }

  /** Returns what is behind /mcp/{name} for a caller; undefined: nothing. */
  at(name: string, caller: Caller): Pick<GatewayRequest, "server" | "toolset"> | undefined {
    const { servers, toolsets, service } = this.#options;
    const isServer = name === SERVICE_NAME ? service !== undefined : servers.find(name, caller) !== undefined;
    if (isServer) return { server: name };
    const toolset = toolsets.find(name, caller);
    return toolset && { toolset };
  }

  /** Calls one tool of a server that the caller may use. Throws a Fault. */
  callTool(
    server: McpServer,
    name: string,
    input: Readonly<Record<string, unknown>>,
    context: GatewayRequest,
  ): Promise<CallToolResult> {
    return this.#requests.callToolOf(server, name, input, context);
  }

  /** Returns those of a server's tools that the caller may use, as guardrails pass them on. Throws a Fault. */
  guardTools(
    tools: readonly McpTool[],
    server: McpServer,
    reader: Pick<GatewayRequest, "caller" | "onDisconnect">,
  ): Promise<McpTool[]> {
    return this.#offers.guardTools(tools, server, reader);
  }

  async close(): Promise<void> {
    await (await this.#handler)?.close();
  }

  async #create(): Promise<McpHttpHandler> {
    const library = await import("@modelcontextprotocol/server");
    const { createMcpHandler, Server } = library;
    return createMcpHandler((connection) => {
      const { context } = (connection.authInfo as unknown as { extra: { context: GatewayRequest } }).extra;
      const instructions = context.toolset?.description;
      const server: Server = new Server(
        { name: "parlance", version: VERSION },
        { capabilities: CAPABILITIES, ...(instructions !== undefined && { instructions }) },
      );
      /** Runs a method whose failures are those of the protocol. */
      const during =
        <Params, Result>(work: (params: Params, client: GatewayClient, request: GatewayRequest) => Promise<Result>) =>
        async ({ params }: { params: Params }, handling: ServerContext): Promise<Result> => {
          try {
            return await this.#during(server, connection, context, handling, (client, request) =>
              work(params, client, request),
            );
          } catch (failure) {
            throw toProtocolError(library, failure, context);
          }
        };
      this.#serveLists(server, context, (failure) => toProtocolError(library, failure, context));
      server.setRequestHandler(
        "tools/call",
        during<CallToolRequest["params"], never>(
          async (params, client, request) => (await this.#callTool(params, client, request)) as never,
        ),
      );
      server.setRequestHandler(
        "prompts/get",
        during<GetPromptRequest["params"], never>(
          async (params, client, request) => (await this.#requests.getPrompt(params, client.peer, request)) as never,
        ),
      );
      server.setRequestHandler(
        "resources/read",
        during<ReadResourceRequest["params"], never>(
          async (params, client, request) => (await this.#requests.read(params, client.peer, request)) as never,
        ),
      );
      server.setRequestHandler(
        "completion/complete",
        during<CompleteRequest["params"], never>(
          async (params, client, request) => (await this.#requests.complete(params, client.peer, request)) as never,
        ),
      );
      server.setRequestHandler("logging/setLevel", async ({ params }) => {
        const session = sessionOf(connection);
        if (session !== undefined) this.#levels.set(session.id, params.level);
        return {};
      });
      return server;
    });
  }

  #serveLists(server: Server, context: GatewayRequest, toError: (failure: unknown) => Error): void {
    const page = <Kind extends OfferKind>(kind: Kind, params: { cursor?: string | undefined } | undefined) =>
      this.#offers.page(kind, context, params?.cursor).catch((failure: unknown) => {
        throw isConnectionRequired(failure) ? failure : toError(failure);
      });
    server.setRequestHandler("tools/list", async ({ params }) => {
      if (context.server === SERVICE_NAME) return { tools: this.#options.service?.listTools(context.caller) ?? [] };
      const { entries: tools, ...rest } = await page("tools", params);
      return { tools, ...rest };
    });
    server.setRequestHandler("prompts/list", async ({ params }) => {
      const { entries: prompts, ...rest } = await page("prompts", params);
      return { prompts, ...rest };
    });
    server.setRequestHandler("resources/list", async ({ params }) => {
      const { entries: resources, ...rest } = await page("resources", params);
      return { resources, ...rest };
    });
    server.setRequestHandler("resources/templates/list", async ({ params }) => {
      const { entries: resourceTemplates, ...rest } = await page("templates", params);
      return { resourceTemplates, ...rest };
    });
  }

  /** Runs a request until it ends, its client leaves or it cancels the request. */
  async #during<Result>(
    server: Server,
    connection: McpRequestContext,
    context: GatewayRequest,
    handling: ServerContext,
    work: (client: GatewayClient, request: GatewayRequest) => Promise<Result>,
  ): Promise<Result> {
    const { era } = connection;
    const session = sessionOf(connection);
    const { messages } = this.#options;
    const leaving: (() => void)[] = [];
    const request: GatewayRequest = {
      ...context,
      onDisconnect: (leave, ...rest) => {
        leaving.push(leave);
        context.onDisconnect(leave, ...rest);
      },
    };
    using _cancellation =
      era === "legacy" && session !== undefined
        ? messages.expect(cancellationKey(context.caller.keyId, session, handling.mcpReq.id), () => {
            for (const leave of leaving) leave();
          })
        : undefined;
    const client = gatewayClient({ server, era, request, session, messages, levels: this.#levels }, handling);
    const result = await work(client, request);
    // The client library dispatches notifications after the results that came with them.
    await setImmediate();
    await client.sent();
    return result;
  }

  async #callTool(params: CallToolRequest["params"], client: GatewayClient, request: GatewayRequest) {
    const { name, arguments: input = {} } = params;
    if (request.server === SERVICE_NAME) {
      const result = await this.#callService(name, input, request);
      if (result !== undefined) return result;
    }
    try {
      return await this.#requests.callTool({ name, arguments: input }, client.peer, request);
    } catch (failure) {
      if (!isRefusal(failure) && !isConnectionRequired(failure)) throw failure;
      request.onFailure(failure);
      // The client's model reads it, and goes on.
      return toTextResult(failure.message, true);
    }
  }

  /** The request to the API is counted, billed and logged like one that the client makes. */
  async #callService(name: string, input: Readonly<Record<string, unknown>>, request: GatewayRequest) {
    const leaving = new AbortController();
    request.onDisconnect(() => leaving.abort(new Fault("client-left", "The client left.")));
    request.onCall(SERVICE_NAME, name);
    return this.#options.service?.callTool(name, input, request.caller, leaving.signal);
  }
}
