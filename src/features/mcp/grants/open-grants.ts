import { requireKeyring } from "../../../kernel/encryption/require-keyring.ts";
import { invalidRequest } from "../../../kernel/faults.ts";
import type { Feature, ServiceParts } from "../../feature.ts";
import type { McpServers } from "../mcp-servers.ts";
import { mcpConnectionPages } from "./grant-pages.ts";
import { mcpConnections } from "./grant-routes.ts";
import { McpGrants } from "./mcp-grants.ts";
import { pageOf, usesOAuth } from "./oauth-server.ts";

/** Opens accounts of callers at MCP servers; undefined where no server has them. Throws a Fault for settings that cannot work. */
export function openGrants({ config, database, inference, lifetime, logger }: ServiceParts) {
  const withAccounts = config.mcpServers.filter(usesOAuth);
  if (withAccounts.length === 0) return undefined;
  const setting = "mcp_servers.oauth";
  if (!config.server.console) {
    throw invalidRequest(`${setting} needs the console (server.console), in which people connect accounts.`, setting);
  }
  const { publicUrl } = config.signOn;
  const origin = publicUrl ?? `http://localhost:${config.server.port}`;
  const keyring = requireKeyring({
    secrets: config.environment.PARLANCE_ENCRYPTION_KEY,
    dataDirectory: config.dataDirectory,
    databaseKind: database.kind,
    setting,
    content: "tokens",
  });
  const grants = new McpGrants({ database, keyring, logger, pageOf: (server) => pageOf(origin, server) });
  lifetime.defer(() => grants.close());
  const find = (name: string) => withAccounts.find((each) => each.name === name);
  return {
    grants,
    routes: (servers: McpServers) =>
      ({
        project: [mcpConnections({ servers, grants, inference, publicUrl })],
        public: [mcpConnectionPages({ grants, find, publicUrl, logger })],
        start: () => {
          // Keys may have been rotated since the last start.
          grants.upkeep().catch((err: unknown) => logger.warn({ err }, "tokens of MCP servers not re-encrypted"));
        },
      }) satisfies Feature,
  };
}
