import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { McpServerTest, toMcpServerTest } from "../../wire/openai/organization/mcp-servers.ts";
import { McpServerEntryBody } from "../../wire/openai/organization/organization-entries.ts";
import { type Accounts, requireDefaultOrganization, WRITE } from "../accounts/index.ts";
import { isGrantFailure } from "./grants/grant-faults.ts";
import type { McpGrants } from "./grants/mcp-grants.ts";
import { usesOAuth } from "./grants/oauth-server.ts";
import type { McpServers } from "./mcp-servers.ts";

/** Checks an entry of the configuration as if it were in force. Throws a Fault. */
export interface ServerPreview {
  preview(kind: "mcp_server", name: string, body: unknown): Promise<Pick<Settings, "mcpServers">>;
}

export interface ServerTestParts {
  accounts: Accounts;
  entries: ServerPreview;
  servers: McpServers;
  grants: () => McpGrants;
}

/** A program may have to be downloaded first. */
const TEST_MS = 80_000;

/** POST /v1/organization/mcp_servers/test */
export function mcpServerTests({ accounts, entries, servers, grants }: ServerTestParts): FastifyPluginAsync {
  return routes(
    (app) => requireDefaultOrganization(app, accounts),
    operation(
      "POST /mcp_servers/test",
      {
        ...WRITE,
        summary:
          "Tests an MCP server before it is saved: connects, and lists its tools; of one with `oauth`, finds its authorization server. Nothing is stored. Not in OpenAI's API.",
        body: McpServerEntryBody,
        answer: McpServerTest,
      },
      async ({ body: { name }, request, reply }) => {
        const { mcpServers } = await entries.preview("mcp_server", name, request.body);
        const settings = mcpServers.find((each) => each.name === name);
        // Another entry of the API may have changed meanwhile.
        if (settings === undefined) throw new Fault("conflict", `The MCP server '${name}' is not valid any more.`);
        const leave = new AbortController();
        reply.raw.once("close", () => leave.abort());
        const signal = AbortSignal.any([leave.signal, AbortSignal.timeout(TEST_MS)]);
        if (usesOAuth(settings)) return testAccounts(settings, grants());
        return toMcpServerTest(await servers.test(settings, signal), undefined);
      },
    ),
  );
}

/** Such a server shows its tools to connected accounts only. */
async function testAccounts(settings: Parameters<McpGrants["findIssuer"]>[0], grants: McpGrants) {
  const beganAt = performance.now();
  const finding = grants.findIssuer(settings).then(
    (issuer) => ({ issuer, problem: undefined }),
    (failure: unknown) => {
      if (!isGrantFailure(failure)) throw failure;
      return { issuer: undefined, problem: failure.message };
    },
  );
  const { issuer, problem } = await finding;
  const durationMs = Math.round(performance.now() - beganAt);
  return toMcpServerTest({ checkedAt: Date.now(), durationMs, problem, tools: [], facts: undefined }, issuer);
}
