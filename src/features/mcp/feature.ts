import type { Feature, ServiceParts } from "../feature.ts";
import { McpServers } from "./mcp-servers.ts";
import { McpToolType } from "./mcp-tool.ts";

/** Servers of the Model Context Protocol as tools of responses. */
export function mcpFeature({ config, lifetime, logger, tools }: ServiceParts): Feature {
  const servers = new McpServers({ servers: config.mcpServers, settings: config.mcp, logger });
  lifetime.defer(() => servers.close());
  tools.register(new McpToolType(servers));
  return {};
}
