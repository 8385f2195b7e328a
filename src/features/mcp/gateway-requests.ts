/** Requests of clients for what the servers offer, by the names that the clients use. */

import type { CompleteRequestParams } from "@modelcontextprotocol/client";
import { withTimeout } from "../../kernel/async/timeout.ts";
import { Fault } from "../../kernel/faults.ts";
import { offeredUri, readOfferedUri, withOfferedUris } from "./gateway-names.ts";
import { type GatewayOffers, LIST_WAIT_MS } from "./gateway-offers.ts";
import { type GatewayRequest, UnknownOffer } from "./gateway-request.ts";
import { type GatewayRuns, type ServerRequest, serverFailed } from "./gateway-runs.ts";
import { isConnectionRequired } from "./grants/grant-faults.ts";
import {
  guardCompletion,
  guardPromptResult,
  guardResourceResult,
  guardToolResult,
  unreadableIn,
} from "./guard-tool-result.ts";
import type { CallToolResult, CompleteResult, GetPromptResult, ReadResourceResult } from "./mcp-connection.ts";
import type { McpTool } from "./mcp-offer.ts";
import { describeFailure } from "./mcp-result.ts";
import type { McpServer } from "./mcp-servers.ts";
import { type InputRequiredResult, isInputRequiredResult, type Peer } from "./peer.ts";

type Input = Readonly<Record<string, unknown>>;

const MAX_URI = 8000;

export class GatewayRequests {
  readonly #offers: GatewayOffers;
  readonly #runs: GatewayRuns;

  constructor(offers: GatewayOffers, runs: GatewayRuns) {
    this.#offers = offers;
    this.#runs = runs;
  }

  async callTool(
    { name, arguments: input }: { name: string; arguments: Input },
    peer: Peer,
    context: GatewayRequest,
  ): Promise<CallToolResult | InputRequiredResult> {
    const match = await this.#offers.find("tools", context, name);
    if (match === undefined) throw new UnknownOffer(`Unknown tool: ${name.slice(0, 200)}`);
    const { server, entry: tool, required } = match;
    if (required !== undefined) return toTextResult(required.message, name !== match.offered.name);
    const result = await this.#runs.run(toolRequest(server, tool, input), peer, context);
    if (context.server !== undefined || isInputRequiredResult(result) || result.content === undefined) return result;
    return { ...result, content: result.content.map((block) => withOfferedUris(block, server.name)) };
  }

  /** Calls a tool for a client that nobody can ask. Throws a Fault, also where there is no such tool. */
  async callToolOf(server: McpServer, name: string, input: Input, context: GatewayRequest): Promise<CallToolResult> {
    const tools = await this.#tools(server, context);
    const tool = tools.find((each) => each.name === name && server.allowsTool(name));
    if (tool === undefined) {
      const message = `The MCP server '${server.name}' has no tool '${name.slice(0, 100)}' that this project may use.`;
      throw new Fault("not-found", message, { code: "mcp_tool_not_found", param: "name" });
    }
    const result = await this.#runs.run(toolRequest(server, tool, input), { capabilities: {} }, context);
    return result as CallToolResult;
  }

  async getPrompt(
    { name, arguments: input = {} }: { name: string; arguments?: Readonly<Record<string, string>> | undefined },
    peer: Peer,
    context: GatewayRequest,
  ): Promise<GetPromptResult | InputRequiredResult> {
    const match = await this.#offers.find("prompts", context, name);
    if (match === undefined) throw new UnknownOffer(`Unknown prompt: ${name.slice(0, 200)}`);
    const { server, entry: prompt } = match;
    const result = await this.#runs.run<GetPromptResult>(
      {
        ...{ server, use: `prompts/${prompt.name}`, label: "prompts/get", input },
        send: (connection, guarded, signal, client) =>
          connection.getPrompt(prompt.name, guarded as Record<string, string>, signal, client),
        guard: guardPromptResult,
      },
      peer,
      context,
    );
    if (context.server !== undefined || isInputRequiredResult(result)) return result;
    const messages = result.messages.map((message) => {
      return { ...message, content: withOfferedUris(message.content, server.name) };
    });
    return { ...result, messages };
  }

  async read(
    { uri: offered }: { uri: string },
    peer: Peer,
    context: GatewayRequest,
  ): Promise<ReadResourceResult | InputRequiredResult> {
    const { server, uri } = this.findResource(offered, context);
    const result = await this.#runs.run<ReadResourceResult>(
      {
        ...{ server, use: `resources/${uri}`, label: "resources/read", input: { uri } },
        send: (connection, guarded, signal, client) => connection.readResource(String(guarded.uri), signal, client),
        guard: guardResourceResult,
      },
      peer,
      context,
    );
    if (context.server !== undefined || isInputRequiredResult(result)) return result;
    const contents = result.contents.map((each) => ({ ...each, uri: offeredUri(each.uri, server.name) }));
    return { ...result, contents };
  }

  async complete(params: CompleteRequestParams, peer: Peer, context: GatewayRequest): Promise<CompleteResult> {
    const { ref, argument, context: earlier } = params;
    const { server, ref: plain } =
      ref.type === "ref/prompt" ? await this.#promptOf(ref, context) : this.#templateOf(ref, context);
    const result = await this.#runs.run<CompleteResult>(
      {
        ...{ server, use: "completion/complete", label: "completion/complete" },
        input: { argument, ...(earlier && { context: earlier }) },
        send: (connection, guarded, signal) => connection.complete({ ...guarded, ref: plain } as never, signal),
        guard: guardCompletion,
      },
      peer,
      context,
    );
    return result as CompleteResult;
  }

  /** Finds a resource by the address that the client uses. */
  findResource(offered: string, context: GatewayRequest): { server: McpServer; uri: string } {
    const servers = this.#offers.serversOf(context);
    const named = context.server === undefined ? readOfferedUri(offered) : { server: context.server, uri: offered };
    const server = servers.find(({ name }) => name.toLowerCase() === named?.server.toLowerCase());
    if (
      named === undefined ||
      server === undefined ||
      named.uri.length > MAX_URI ||
      !server.allowsResource(named.uri)
    ) {
      throw new UnknownOffer(`Unknown resource: ${offered.slice(0, 200)}`);
    }
    return { server, uri: named.uri };
  }

  async #tools(server: McpServer, context: GatewayRequest): Promise<readonly McpTool[]> {
    try {
      return await withTimeout(server.list("tools", new AbortController().signal), LIST_WAIT_MS);
    } catch (failure) {
      if (isConnectionRequired(failure)) throw failure;
      const fault = serverFailed(server.name, describeFailure(failure), failure);
      throw await this.#offers.guardFault(fault, server, context);
    }
  }

  async #promptOf(ref: { type: "ref/prompt"; name: string }, context: GatewayRequest) {
    const match = await this.#offers.find("prompts", context, ref.name);
    if (match === undefined) throw new UnknownOffer(`Unknown prompt: ${ref.name.slice(0, 200)}`);
    return { server: match.server, ref: { ...ref, name: match.entry.name } };
  }

  #templateOf(ref: { type: "ref/resource"; uri: string }, context: GatewayRequest) {
    const { server, uri } = this.findResource(ref.uri, context);
    return { server, ref: { ...ref, uri } };
  }
}

export function toTextResult(text: string, isError: boolean): CallToolResult {
  return { isError, content: [{ type: "text", text }] };
}

function toolRequest(server: McpServer, tool: McpTool, input: Input): ServerRequest<CallToolResult> {
  return {
    ...{ server, use: tool.name, label: tool.name, input },
    send: (connection, guarded, signal, client) => connection.callTool(tool, guarded, signal, client),
    guard: (answer, guardResult) => guardToolResult(answer, guardResult, unreadableIn(answer)),
  };
}
