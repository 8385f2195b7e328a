/** Addresses that browsers and authorization servers open while an account of an MCP server is connected. */

import type { FastifyPluginAsync } from "fastify";
import { z } from "zod";
import { operation, rawOperation, routes } from "../../../http/operation.ts";
import { Fault } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import type { Logger } from "../../../kernel/logger.ts";
import { named } from "../../../wire/openapi/named.ts";
import {
  clearTransactionCookie,
  consoleUrl,
  type FailureReason,
  logFailure,
  SignOnFailure,
  sendContinuation,
  sendFailure,
  transactionCookie,
} from "../../sign-on/index.ts";
import { clientMetadataOf } from "./authorization-servers.ts";
import { addressesOf, COOKIE } from "./grant-routes.ts";
import type { McpGrants } from "./mcp-grants.ts";
import { type OAuthServerSettings, pageOf } from "./oauth-server.ts";

export interface GrantPageParts {
  /** Throws a Fault where accounts cannot work. */
  grants: () => McpGrants;
  /** Returns a server with accounts; undefined: no server of this name has them. */
  find: (name: string) => OAuthServerSettings | undefined;
  publicUrl: string | undefined;
  logger: Logger;
}

const ClientMetadata = named(
  "McpClientMetadata",
  lazy.object(() => ({
    client_id: z.string(),
    client_name: z.string(),
    client_uri: z.string(),
    redirect_uris: z.array(z.string()),
    grant_types: z.array(z.string()),
    response_types: z.array(z.string()),
    token_endpoint_auth_method: z.string(),
    application_type: z.string(),
  })),
);

interface OfServer {
  Params: { server: string };
}

const TRY_AGAIN = "Connect it again. If this happens again, tell your administrator the request ID below.";
const REMEDIES: Partial<Record<FailureReason, string>> = {
  expired:
    "It was completed already, took more than ten minutes, or began in another browser. Connect it again, in one window and with cookies allowed.",
  denied: "Nothing was connected. You can connect it at any time.",
  "client-refused": "Your administrator has to correct `oauth` of this server. Then connect it again.",
  "wrong-issuer": "Answers of two authorization servers were mixed up. Connect it again, and tell your administrator.",
};

/** GET /mcp-connections/:server/callback and /client.json */
export function mcpConnectionPages({ grants, find, publicUrl, logger }: GrantPageParts): FastifyPluginAsync {
  const require = (name: string): OAuthServerSettings => {
    const settings = find(name);
    if (settings !== undefined) return settings;
    throw new Fault("not-found", "There is no MCP server of this name with accounts.", {
      code: "mcp_server_not_found",
    });
  };
  return routes(
    operation(
      "GET /mcp-connections/:server/client.json",
      {
        summary: "Describes this service as a client to authorization servers (OAuth Client ID Metadata Document).",
        tag: "MCP",
        permission: "public",
        answer: ClientMetadata,
      },
      async ({ params, request, reply }) => {
        const origin = consoleUrl(request, publicUrl);
        const { redirectUri, clientMetadata } = addressesOf(require(params.server).name, origin);
        reply.header("cache-control", "public, max-age=3600");
        return { client_id: clientMetadata, client_uri: origin, ...clientMetadataOf(redirectUri, "none") };
      },
    ),
    rawOperation(
      "GET /mcp-connections/:server/callback",
      {
        summary: "Completes the connection of an account with the authorization server's answer.",
        tag: "MCP",
        permission: "public",
        content: ["text/html"],
        route: {
          errorHandler: (error, request, reply) => {
            logFailure(logger, request, error, "an account of an MCP server was not connected");
            const { server } = request.params as OfServer["Params"];
            return sendFailure(reply, describe(error), {
              url: pageOf(consoleUrl(request, publicUrl), server),
              text: "Go to the MCP server",
            });
          },
        },
      },
      async (request, reply) => {
        const settings = require(request.params.server);
        const query = request.url.split("?", 2)[1] ?? "";
        const state = new URLSearchParams(query).get("state") ?? "";
        const cookie = transactionCookie(request, state, COOKIE);
        clearTransactionCookie(request, reply, state, COOKIE);
        const from = { ipAddress: request.ip, userAgent: request.headers["user-agent"] };
        await grants().complete(settings, { query, cookie, from });
        const title = "Account connected";
        return sendContinuation(reply, pageOf(consoleUrl(request, publicUrl), settings.name), {
          title,
          message: "Your account is connected.",
        });
      },
    ),
  );
}

function describe(error: unknown) {
  const title = "Your account is not connected";
  if (error instanceof SignOnFailure) {
    const { message, reason } = error;
    return { status: error.page.status, title, message, remedy: REMEDIES[reason] ?? TRY_AGAIN };
  }
  if (!(error instanceof Fault)) {
    return { status: 500, title, message: "Something went wrong in this service.", remedy: TRY_AGAIN };
  }
  return { status: error.kind === "not-found" ? 404 : 503, title, message: error.message, remedy: TRY_AGAIN };
}
