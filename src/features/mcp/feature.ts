import type { FastifyRequest } from "fastify";
import type { Caller } from "../../contracts/caller.ts";
import type { Feature } from "../../http/feature.ts";
import { InternalRequests } from "../../http/internal-requests.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import { consoleUrl } from "../sign-on/index.ts";
import type { ServiceTools } from "../tools/index.ts";
import { ClientMessages } from "./client-messages.ts";
import { McpGateway } from "./gateway.ts";
import { mcpGateway, resourceMetadata } from "./gateway-routes.ts";
import { prepareGrants } from "./grants/open-grants.ts";
import { GuardedLists } from "./guarded-lists.ts";
import { McpCallLog } from "./mcp-call-log.ts";
import { McpServers } from "./mcp-servers.ts";
import { McpToolType } from "./mcp-tool.ts";
import { mcpAdministration, mcpServers } from "./server-routes.ts";
import { mcpServerTests, type ServerPreview } from "./server-test-routes.ts";
import { ServiceServer } from "./service-server.ts";
import { checkToolsets, McpToolsets } from "./toolsets.ts";

interface McpParts {
  accounts: Accounts;
  config: Settings;
  configuration: { entries: ServerPreview };
  database: Database;
  inference: Inference;
  lifetime: AsyncDisposableStack;
  logger: Logger;
  tools: ServiceTools;
}

/** Servers of the Model Context Protocol: as tools of responses, and behind one address for MCP clients. */
export function mcpFeature(parts: McpParts): Feature {
  const { entries } = parts.configuration;
  const { accounts, config, database, inference, lifetime, logger, tools } = parts;
  const log = new McpCallLog({ database, logger, days: config.usage.requestDays });
  lifetime.defer(() => log.close());
  lifetime.use(log.retention());
  const grants = prepareGrants(parts);
  grants.check(config.mcpServers);
  const servers = new McpServers({ servers: config.mcpServers, settings: config.mcp, grants: grants.open, logger });
  lifetime.defer(() => servers.close());
  checkToolsets(config.mcpToolsets, config.mcpServers);
  const toolsets = new McpToolsets(servers, config.mcpToolsets);
  const lists = new GuardedLists();
  tools.register(new McpToolType(servers, log, lists));
  const requests = new InternalRequests("x-parlance-mcp-call");
  const service = config.mcp.operations ? new ServiceServer(inference, requests) : undefined;
  const messages = lifetime.use(new ClientMessages(database, logger));
  const gateway = new McpGateway({ servers, toolsets, inference, lists, logger, log, messages, service });
  lifetime.defer(() => gateway.close());
  const checkAccess = (caller: Caller) => tools.access.check(caller, "mcp");
  const routes = { servers, gateway, inference, log, accounts, checkAccess };
  const connections = grants.routes(servers);
  const always = {
    ...connections,
    project: [mcpServers(routes), ...connections.project],
    admin: [mcpAdministration(routes), mcpServerTests({ accounts, entries, servers, grants: grants.open })],
    live: {
      check: ({ mcpServers, mcpToolsets }) => {
        grants.check(mcpServers);
        checkToolsets(mcpToolsets, mcpServers);
      },
      apply: ({ mcpServers, mcpToolsets }) => {
        servers.apply(mcpServers);
        toolsets.apply(mcpToolsets);
      },
    },
  } satisfies Feature;
  if (!config.mcp.gateway) return always;
  const isOpen = () => servers.count > 0 || service !== undefined;
  const originOf = (request: FastifyRequest) => consoleUrl(request, config.signOn.publicUrl);
  const publicUrl = URL.parse(config.signOn.publicUrl ?? "")?.origin ?? "";
  const { corsOrigins } = config.server;
  const issuers = config.signOn.tokens.map(({ issuer }) => issuer);
  return {
    ...always,
    addHooks: (app) => requests.addHooks(app),
    public: [...connections.public, resourceMetadata(issuers, originOf, isOpen)],
    projectAt: [
      {
        prefix: "",
        routes: [mcpGateway({ gateway, inference, corsOrigins, publicUrl, originOf, checkAccess, isOpen })],
      },
    ],
  };
}
