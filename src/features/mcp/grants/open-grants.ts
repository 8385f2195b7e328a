import type { Feature } from "../../../http/feature.ts";
import { HOUR_MS, MINUTE_MS } from "../../../kernel/durations.ts";
import { requireKeyring } from "../../../kernel/encryption/require-keyring.ts";
import { invalidRequest } from "../../../kernel/faults.ts";
import { Poll } from "../../../kernel/jobs/poll.ts";
import type { Logger } from "../../../kernel/logger.ts";
import type { Settings } from "../../../kernel/settings/settings.ts";
import type { Database } from "../../../storage/database.ts";
import type { McpServers } from "../mcp-servers.ts";
import { mcpConnectionPages } from "./grant-pages.ts";
import { mcpConnections } from "./grant-routes.ts";
import { McpGrants } from "./mcp-grants.ts";
import { pageOf, usesOAuth } from "./oauth-server.ts";
import { hasRevocations } from "./revocation-queries.ts";

/** Pause between attempts to revoke tokens of deleted grants. */
const SWEEP_MS = 10_000;

interface GrantParts {
  config: Settings;
  database: Database;
  lifetime: AsyncDisposableStack;
  logger: Logger;
}

/** Accounts of callers at MCP servers, opened by the first server that has them. */
export function prepareGrants({ config, database, lifetime, logger }: GrantParts) {
  const { publicUrl } = config.signOn;
  let opened: McpGrants | undefined;
  let hasStarted = false;
  let servers: McpServers | undefined;
  const startUpkeep = (grants: McpGrants) => {
    // Keys may have been rotated since the last start.
    grants.upkeep().catch((err: unknown) => logger.warn({ err }, "tokens of MCP servers not re-encrypted"));
    const onFailure = (err: unknown) => logger.warn({ err }, "tokens of MCP servers could not be revoked");
    lifetime.use(new Poll(() => grants.sweep(), { everyMs: SWEEP_MS, jitter: 0.2, onFailure }));
    const deleteUnused = () => grants.deleteUnused(servers?.names() ?? []);
    lifetime.use(new Poll(deleteUnused, { everyMs: HOUR_MS, firstMs: MINUTE_MS, jitter: 0.2, onFailure }));
  };
  /** Throws a Fault for settings that cannot work. */
  const open = (): McpGrants => {
    if (opened !== undefined) return opened;
    const setting = "mcp_servers.oauth";
    if (!config.server.console) {
      throw invalidRequest(`${setting} needs the console (server.console), in which people connect accounts.`, setting);
    }
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
    if (hasStarted) startUpkeep(grants);
    opened = grants;
    return grants;
  };
  return {
    open,
    /** Throws a Fault for servers whose accounts cannot work. */
    check: (servers: readonly Parameters<typeof usesOAuth>[0][]) => {
      if (servers.some(usesOAuth)) open();
    },
    routes: (configured: McpServers) => {
      servers = configured;
      return {
        project: [mcpConnections({ servers: configured, grants: open, publicUrl })],
        public: [
          mcpConnectionPages({
            grants: open,
            find: (name) => {
              const settings = configured.settingsOf(name);
              return settings !== undefined && usesOAuth(settings) ? settings : undefined;
            },
            publicUrl,
            logger,
          }),
        ],
        start: () => {
          hasStarted = true;
          if (opened !== undefined) return startUpkeep(opened);
          // Servers with accounts may have been removed while no process ran.
          const openForRevocations = async () => {
            if (await database.run(hasRevocations)) open();
          };
          openForRevocations().catch((err: unknown) => logger.warn({ err }, "cannot revoke tokens of MCP servers"));
        },
      } satisfies Feature;
    },
  };
}
