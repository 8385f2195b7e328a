/** Accounts at MCP servers: their state, connecting and disconnecting, for the person or project of a request. */

import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { z } from "zod";
import { allows } from "../../../http/access.ts";
import { operation, routes } from "../../../http/operation.ts";
import { Fault } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { isLoopbackName } from "../../../kernel/outgoing/loopback-name.ts";
import { toSeconds } from "../../../wire/openai/organization/organization-list.ts";
import { parse } from "../../../wire/openai/validate.ts";
import { type AnswerOf, named } from "../../../wire/openapi/named.ts";
import { actorOf } from "../../accounts/index.ts";
import { consoleUrl, setTransactionCookie } from "../../sign-on/index.ts";
import type { McpServer, McpServers } from "../mcp-servers.ts";
import type { ClientAddresses } from "./authorization-servers.ts";
import { type GrantOwner, grantOwnerOf, PROJECT_ACCOUNT } from "./grant-owner.ts";
import type { GrantState, McpGrants } from "./mcp-grants.ts";
import { type OAuthServerSettings, usesOAuth } from "./oauth-server.ts";

export interface GrantRouteParts {
  servers: McpServers;
  /** Throws a Fault where accounts cannot work. */
  grants: () => McpGrants;
  /** Address of the service in browsers; undefined: only browsers on this machine can connect accounts. */
  publicUrl: string | undefined;
}

const McpConnection = named(
  "McpConnection",
  lazy.object(() => ({
    object: z.literal("mcp_server.connection"),
    server: z.string(),
    owner: z.object({
      type: z.enum(["user", "project"]).describe("`project`: of its keys without a person."),
      id: z.string(),
    }),
    status: z
      .enum(["connected", "disconnected", "expired"])
      .describe("`expired`: the server no longer accepts the account, which has to be connected again."),
    connected_at: z.int().nullable(),
    scopes: z.array(z.string()).nullable().describe("Null: the authorization server does not say."),
    issuer: z.string().nullable().describe("Authorization server of the account."),
  })),
);

const BegunConnection = named(
  "McpConnectionRequest",
  lazy.object(() => ({
    object: z.literal("mcp_server.connection_request"),
    authorization_url: z.string().describe("Address that this browser opens within ten minutes."),
  })),
);

const RemovedConnection = named(
  "McpConnectionDeleted",
  lazy.object(() => ({
    object: z.literal("mcp_server.connection.deleted"),
    server: z.string(),
    deleted: z.literal(true),
    revoked: z.boolean().describe("Whether the authorization server revoked the tokens, too."),
  })),
);

const OwnerQuery = lazy.strictObject(() => ({
  owner: z
    .enum(["caller", "project"])
    .default("caller")
    .describe(
      "caller: the person of the request, else its project. project: the project, of its keys without a person.",
    ),
}));

const PATH = "/mcp_servers/:server/connection";
const COMMON = { tag: "MCP", permission: "project", query: OwnerQuery } as const;
export const COOKIE = "parlance_mcp_grant";

interface OfServer {
  Params: { server: string };
}

/** Below /v1 */
export function mcpConnections({ servers, grants, publicUrl }: GrantRouteParts): FastifyPluginAsync {
  const find = (request: FastifyRequest<OfServer>) => {
    const { server: name } = request.params;
    return { settings: requireOAuth(name, servers.find(name, request.caller)), owner: requireOwner(request) };
  };
  return routes(
    operation(
      `GET ${PATH}`,
      {
        ...COMMON,
        summary: "Describes the account with which a person or project uses an MCP server. Not in OpenAI's API.",
        answer: McpConnection,
      },
      async ({ request }) => {
        const { settings, owner } = find(request);
        return toConnection(settings.name, owner, await grants().state(settings, owner));
      },
    ),
    operation(
      `POST ${PATH}`,
      {
        ...COMMON,
        summary: "Begins to connect an account of an MCP server, in the browser of the request. Not in OpenAI's API.",
        answer: BegunConnection,
      },
      async ({ caller, request, reply }) => {
        const { settings, owner } = find(request);
        const addresses = addressesOf(settings.name, originInBrowsers(request, publicUrl));
        const { url, state, cookie } = await grants().begin(settings, owner, addresses, caller);
        setTransactionCookie(request, reply, state, cookie, COOKIE);
        return { object: "mcp_server.connection_request" as const, authorization_url: url };
      },
    ),
    operation(
      `DELETE ${PATH}`,
      {
        ...COMMON,
        summary: "Disconnects an account of an MCP server: deletes its tokens and revokes them. Not in OpenAI's API.",
        answer: RemovedConnection,
      },
      async ({ request }) => {
        const { settings, owner } = find(request);
        const { isRevoked } = await grants().disconnect(settings, owner, actorOf(request));
        const { name: server } = settings;
        return { object: "mcp_server.connection.deleted" as const, server, deleted: true as const, revoked: isRevoked };
      },
    ),
  );
}

/** Addresses of this service for the authorization server of an MCP server. */
export function addressesOf(server: string, origin: string): ClientAddresses {
  const base = `${origin}/mcp-connections/${server}`;
  return { redirectUri: `${base}/callback`, clientMetadata: `${base}/client.json` };
}

/** Throws a Fault where browsers of other machines would be sent to an address that anyone can claim. */
function originInBrowsers(request: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined || isLoopbackName(request.hostname)) return consoleUrl(request, publicUrl);
  const message =
    "Accounts are connected at the service's public address, which is not set: the operator has to set `sign_on.public_url`.";
  throw new Fault("conflict", message, { code: "no_public_url" });
}

function requireOAuth(name: string, server: McpServer | undefined): OAuthServerSettings {
  if (server?.settings !== undefined && usesOAuth(server.settings)) return server.settings;
  const message =
    server === undefined
      ? `There is no MCP server '${name.slice(0, 100)}' that this project may use.`
      : `The MCP server '${server.name}' has no accounts of callers: it has no setting 'oauth'.`;
  throw new Fault("not-found", message, { code: "mcp_server_not_found" });
}

function requireOwner({ caller, query }: FastifyRequest): GrantOwner {
  const { owner } = parse(OwnerQuery, query);
  const { userId, projectId, access } = caller;
  if (owner === "project" && userId !== undefined && !allows(access, PROJECT_ACCOUNT, projectId)) {
    const message = `The account of a project needs the permission \`${PROJECT_ACCOUNT}\`. Ask an owner of the project.`;
    throw new Fault("forbidden", message, { code: "insufficient_permissions" });
  }
  const match = grantOwnerOf(owner === "project" ? { ...caller, userId: undefined } : caller);
  if (match === undefined) throw new Fault("forbidden", "An admin key has no accounts at MCP servers.");
  return match;
}

function toConnection(
  server: string,
  { type, id }: GrantOwner,
  { status, connectedAt, scopes, issuer }: GrantState,
): AnswerOf<typeof McpConnection> {
  return {
    object: "mcp_server.connection",
    server,
    owner: { type, id },
    status,
    connected_at: connectedAt === null ? null : toSeconds(connectedAt),
    scopes: scopes?.split(" ") ?? null,
    issuer,
  };
}
