/** What the console and administrators read of MCP servers, and calls of their tools over the API. */

import type { FastifyPluginAsync } from "fastify";
import type { z } from "zod";
import type { Caller } from "../../contracts/caller.ts";
import { countRequest } from "../../http/count-requests.ts";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { operation, rawOperation, routes } from "../../http/operation.ts";
import type { Inference } from "../../inference/inference.ts";
import { Fault } from "../../kernel/faults.ts";
import { pageOfRows } from "../../storage/page.ts";
import { McpServerList, McpServersQuery, toMcpServer } from "../../wire/openai/organization/mcp-servers.ts";
import {
  McpCallBody,
  McpCallList,
  McpCallResult,
  McpCallsQuery,
  McpToolList,
  toMcpCall,
  toMcpCallResult,
  toMcpTool,
} from "../../wire/openai/organization/mcp-tool-calls.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import { parse } from "../../wire/openai/validate.ts";
import type { Accounts } from "../accounts/index.ts";
import { visibilityOf } from "../usage/index.ts";
import type { ServerState } from "./configured-server.ts";
import type { McpGateway } from "./gateway.ts";
import { noServer } from "./gateway-routes.ts";
import type { McpCallLog } from "./mcp-call-log.ts";
import type { McpTool } from "./mcp-offer.ts";
import type { McpServers, McpServer as Server } from "./mcp-servers.ts";

interface McpServerRoutes {
  servers: McpServers;
  gateway: McpGateway;
  inference: Inference;
  log: McpCallLog;
  accounts: Accounts;
  /** Throws a Fault when the caller's project has turned MCP off. */
  checkAccess: (caller: Caller) => void;
}

const READ = { tag: "MCP", permission: "admin", requires: "organization.read" } as const;

/** Time for which a list waits for servers that do not answer. */
const CHECK_MS = 5_000;

/** Below /v1, for the servers that the key's project may use. */
export function mcpServers({ servers, gateway, inference, checkAccess }: McpServerRoutes): FastifyPluginAsync {
  const find = (name: string, caller: Caller): Server => {
    const server = servers.find(name, caller);
    if (server === undefined) throw noServer(name);
    return server;
  };
  return routes(
    rawOperation(
      "GET /mcp_servers",
      {
        summary: "Lists the MCP servers that the project may use, with their state. Not in OpenAI's API.",
        tag: "MCP",
        permission: "project",
        query: McpServersQuery,
        answer: McpServerList,
      },
      async ({ caller, query }) => {
        checkAccess(caller);
        const shows = { settings: false, texts: !inference.guardsTools(caller) };
        return listServers(servers, servers.visibleTo(caller), query, shows);
      },
    ),
    rawOperation(
      "GET /mcp_servers/:server/tools",
      {
        summary: "Lists the tools of an MCP server that the project may use. Not in OpenAI's API.",
        tag: "MCP",
        permission: "project",
        counts: "by-handler",
        query: McpServersQuery,
        answer: McpToolList,
      },
      async (request, reply) => {
        const { caller, params, query } = request;
        checkAccess(caller);
        const server = find(params.server, caller);
        const page = parse(McpServersQuery, query);
        // Guardrails may ask models about a list that nobody waits for to its end.
        if (inference.guardsTools(caller)) await countRequest(request, reply);
        const { tools } = await servers.check(server, CHECK_MS);
        const guarded = await gateway.guardTools(tools, server, { caller, onDisconnect: onDisconnect(reply) });
        return listTools(guarded, server, page);
      },
    ),
    operation(
      "POST /mcp_servers/:server/calls",
      {
        summary:
          "Calls a tool of an MCP server, with the permissions, guardrails, price and bounds of a call at /mcp. Not in OpenAI's API.",
        tag: "MCP",
        permission: "project",
        body: McpCallBody,
        answer: McpCallResult,
      },
      async ({ body, request, reply }) => {
        const { caller, params } = request;
        const { name, arguments: input } = body;
        checkAccess(caller);
        const server = find(params.server, caller);
        const onLeave = onDisconnect(reply);
        const beganAt = performance.now();
        const result = await gateway.callTool(server, name, input, {
          caller,
          source: "api",
          onDisconnect: (leave, _settlement, guardrails) => onLeave(leave, undefined, guardrails),
          onCall: (server, tool) => {
            request.record.model = `mcp/${server}/${tool}`;
          },
          onFailure: (failure) => request.reportFailure(failure),
        });
        return toMcpCallResult(result, Math.round(performance.now() - beganAt), server.priceOf(name));
      },
    ),
  );
}

/** Below /v1/organization. */
export function mcpAdministration({ servers, accounts, log }: McpServerRoutes): FastifyPluginAsync {
  return routes(
    rawOperation(
      "GET /mcp_servers",
      {
        ...READ,
        summary:
          "Lists all MCP servers with their state and settings. Not in OpenAI's API; admin keys of the default organization only.",
        query: McpServersQuery,
        answer: McpServerList,
      },
      async ({ caller, query }) => {
        await requireInstallation(accounts, caller);
        return listServers(servers, servers.listForOperator(caller), query, { settings: true, texts: true });
      },
    ),
    rawOperation(
      "GET /mcp_servers/:server/tools",
      {
        ...READ,
        summary: "Lists all tools of an MCP server. Not in OpenAI's API; admin keys of the default organization only.",
        query: McpServersQuery,
        answer: McpToolList,
      },
      async ({ caller, params, query }) => {
        await requireInstallation(accounts, caller);
        const server = servers.findForOperator(params.server, caller);
        if (server === undefined) throw noServer(params.server);
        const page = parse(McpServersQuery, query);
        const { tools } = await servers.check(server, CHECK_MS);
        return listTools(tools, server, page);
      },
    ),
    operation(
      "GET /mcp_calls",
      {
        tag: "Reports",
        permission: "admin-or-project",
        requires: "signed-in",
        summary:
          "Lists calls of tools of MCP servers, newest first: who called what, how long it took and what it cost. A project key lists its own project. Not in OpenAI's API.",
        query: McpCallsQuery,
        answer: McpCallList,
      },
      async ({ query: { project_id: projectId, ...filter }, caller }) => {
        const { organizationId } = caller;
        const page = await log.list({ ...filter, projectId, organizationId, visibility: visibilityOf(caller) });
        return toListBody(page, toMcpCall);
      },
    ),
  );
}

/** `texts`: what servers write of their failures and software. */
async function listServers(
  all: McpServers,
  servers: readonly Server[],
  query: unknown,
  shows: { settings: boolean; texts: boolean },
) {
  const page = parse(McpServersQuery, query);
  const { entries, hasMore } = pageOfRows(
    servers.map((server) => ({ id: server.name, server })),
    page,
  );
  const shown = entries.map(async ({ server }) => {
    const checked = await all.check(server, CHECK_MS);
    const state = shows.texts ? checked : withoutTexts(checked);
    const toolCount = state.tools.filter(({ name }) => server.allowsTool(name)).length;
    const { name, settings } = server;
    return settings === undefined ? [] : [toMcpServer({ name, settings, state, toolCount }, shows.settings)];
  });
  return toListBody({ entries: (await Promise.all(shown)).flat(), hasMore }, (each) => each);
}

/** Without what the server wrote, which guardrails would check each time that the list is read. */
function withoutTexts(state: ServerState): ServerState {
  const { problem, needsAccount, facts } = state;
  return {
    ...state,
    problem: problem === undefined || needsAccount === true ? problem : "The server did not list its tools.",
    facts: facts && { ...facts, software: undefined },
  };
}

function listTools(tools: readonly McpTool[], server: Server, page: z.output<typeof McpServersQuery>) {
  const rows = tools
    .filter(({ name }) => server.allowsTool(name))
    .map((tool) => toMcpTool(tool, server.priceOf(tool.name)));
  return toListBody(pageOfRows(rows, page), (each) => each);
}

async function requireInstallation({ organizations }: Accounts, { organizationId }: Caller): Promise<void> {
  if (await organizations.isDefault(organizationId)) return;
  throw new Fault("forbidden", "Only the default organization sees the MCP servers of this installation.");
}
