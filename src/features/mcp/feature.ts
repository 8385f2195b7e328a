import type { FastifyRequest } from "fastify";
import { connectionTimeoutMs } from "../../http/bare-server.ts";
import { cutSlowReaders } from "../../http/connections.ts";
import { InternalRequests } from "../../http/internal-requests.ts";
import type { Feature, ServiceParts } from "../feature.ts";
import { consoleUrl } from "../sign-on/sign-on-routes.ts";
import { McpGateway } from "./gateway.ts";
import { mcpGateway, resourceMetadata } from "./gateway-routes.ts";
import { McpServers } from "./mcp-servers.ts";
import { McpToolType } from "./mcp-tool.ts";
import { ServiceServer } from "./service-server.ts";

/** Servers of the Model Context Protocol: as tools of responses, and behind one address for MCP clients. */
export function mcpFeature({ config, inference, lifetime, logger, tools, authenticate }: ServiceParts): Feature {
  const servers = new McpServers({ servers: config.mcpServers, settings: config.mcp, logger });
  lifetime.defer(() => servers.close());
  tools.register(new McpToolType(servers));
  if (!config.mcp.gateway || (servers.count === 0 && !config.mcp.operations)) return {};
  const requests = new InternalRequests("x-parlance-mcp-call");
  const service = config.mcp.operations ? new ServiceServer(inference, requests) : undefined;
  const gateway = new McpGateway(servers, inference, logger, service);
  lifetime.defer(() => gateway.close());
  const originOf = (request: FastifyRequest) => consoleUrl(request, config.signOn.publicUrl);
  const issuers = config.signOn.tokens.map(({ issuer }) => issuer);
  return {
    addHooks: (app) => requests.addHooks(app),
    public: [
      resourceMetadata(issuers, originOf),
      async (app) => {
        app.register(async (scope) => {
          cutSlowReaders(scope, connectionTimeoutMs(config.server) / 1000);
          authenticate(scope, "project");
          const publicUrl = URL.parse(config.signOn.publicUrl ?? "")?.origin ?? "";
          const { corsOrigins } = config.server;
          scope.register(mcpGateway({ gateway, inference, corsOrigins, publicUrl, originOf }));
        });
      },
    ],
  };
}
