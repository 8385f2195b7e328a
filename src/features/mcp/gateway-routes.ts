import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Caller } from "../../contracts/caller.ts";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { operation, rawOperation, routes } from "../../http/operation.ts";
import type { Inference } from "../../inference/inference.ts";
import { Fault } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { isLoopbackName } from "../../kernel/outgoing/loopback-name.ts";
import { named } from "../../wire/openapi/named.ts";
import { ErrorAnswer } from "../../wire/openapi/service-answers.ts";
import type { McpGateway, RpcMessage } from "./gateway.ts";
import { SERVICE_NAME } from "./service-server.ts";

/** JSON-RPC, whose methods and results are those of the Model Context Protocol. */
const Message = named(
  "McpMessage",
  lazy.looseObject(() => ({
    jsonrpc: z.literal("2.0"),
    method: z.string().optional(),
    id: z.union([z.string(), z.number()]).optional(),
    params: z.record(z.string(), z.unknown()).optional(),
  })),
);
const Answer = named(
  "McpAnswer",
  lazy.looseObject(() => ({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.number()]).nullable().optional(),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
    method: z.string().optional().describe("Of notifications in a stream."),
    params: z.record(z.string(), z.unknown()).optional(),
  })),
);

const ResourceMetadata = named(
  "McpResourceMetadata",
  lazy.object(() => ({
    resource: z.string(),
    authorization_servers: z.array(z.string()).optional(),
    bearer_methods_supported: z.array(z.string()),
    resource_name: z.string(),
    resource_documentation: z.string(),
  })),
);

const PATH = "/mcp";
const SERVER_PATH = `${PATH}/:server`;
const METADATA = "/.well-known/oauth-protected-resource";
const DOCUMENTATION = "https://modelcontextprotocol.io";
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Methods that reach a server, and count as requests. */
const COUNTED: ReadonlySet<unknown> = new Set(["tools/call", "prompts/get", "resources/read", "completion/complete"]);
/** Methods whose answers come from a memory of a minute. */
const LISTS: ReadonlySet<unknown> = new Set([
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
]);
/** Headers by which the protocol says what a request is. */
const SENT_HEADERS = /^(accept|content-type|last-event-id|mcp-.+)$/;

export interface GatewayRoutes {
  gateway: McpGateway;
  inference: Inference;
  /** Origins of pages that may call the API; `*`: all. */
  corsOrigins: readonly string[];
  /** Origin of the service's public address; "": it has none. */
  publicUrl: string;
  /** Address of the service for clients. */
  originOf: (request: FastifyRequest) => string;
  /** Throws a Fault for a caller whose project has turned MCP off. */
  checkAccess: (caller: Caller) => void;
  /** Whether there is anything behind /mcp now. */
  isOpen: () => boolean;
}

/** POST /mcp and /mcp/{server}, where toolsets are, too */
export function mcpGateway({
  gateway,
  inference,
  corsOrigins,
  publicUrl,
  originOf,
  checkAccess,
  isOpen,
}: GatewayRoutes): FastifyPluginAsync {
  return routes(
    (app) =>
      app.addHook("onSend", async (request, reply) => {
        if (reply.statusCode !== 401) return;
        const metadata = `${originOf(request)}${METADATA}${PATH}`;
        reply.header("www-authenticate", `Bearer realm="Parlance", resource_metadata="${metadata}"`);
      }),
    ...[PATH, SERVER_PATH].map((path) =>
      rawOperation(
        `POST ${path}`,
        {
          summary:
            path === PATH
              ? "Answers a message of the Model Context Protocol for the configured servers: tools, prompts and resources."
              : "Answers a message of the Model Context Protocol for one server or toolset.",
          tag: "MCP",
          permission: "project",
          counts: "by-handler",
          body: Message,
          answer: Answer,
          content: ["text/event-stream"],
          events: Answer,
          // Recordings to transcribe have the limit of other requests.
          ...(path === PATH && { route: { bodyLimit: MAX_BODY_BYTES } }),
        },
        async (request, reply) => {
          refuseOtherOrigins(request, corsOrigins, publicUrl);
          if (!isOpen()) throw nothingServed();
          checkAccess(request.caller);
          const { server: name } = request.params as { server?: string };
          const place = name === undefined ? {} : gateway.at(name, request.caller);
          if (place === undefined) throw noServer(String(name));
          const message = request.body as RpcMessage;
          // Guardrails may ask models about a list. The service's operations count themselves.
          const isGuarded = LISTS.has(message.method) && inference.guardsTools(request.caller);
          const counts = COUNTED.has(message.method) || isGuarded;
          if (counts && place.server !== SERVICE_NAME) await inference.admit(request.caller);
          const leaving = new AbortController();
          const onLeave = onDisconnect(reply);
          onLeave(() => leaving.abort());
          const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
            SENT_HEADERS.test(name) && typeof value === "string" ? [[name, value]] : [],
          );
          const url = `${originOf(request)}${PATH}`;
          const sent = new Request(url, { method: "POST", headers, signal: leaving.signal });
          const answer = await gateway.answer(message, sent, {
            caller: request.caller,
            source: "gateway",
            ...place,
            onDisconnect: (leave, _settlement, guardrails) => onLeave(leave, undefined, guardrails),
            onCall: (name, use) => {
              request.record.model = `mcp/${name}/${use}`;
            },
            onFailure: (failure) => request.reportFailure(failure),
          });
          return send(reply, answer);
        },
      ),
    ),
  );
}

function nothingServed(): Fault {
  const message = "There is no MCP server behind /mcp: the operator has to add one to `mcp_servers`.";
  return new Fault("not-found", message, { code: "mcp_server_not_found" });
}

export function noServer(name: string): Fault {
  const message = `There is no MCP server '${name.slice(0, 100)}' that this project may use.`;
  return new Fault("not-found", message, { code: "mcp_server_not_found" });
}

/**
 * The protocol demands this of servers, against names that a page points at an internal address (DNS rebinding): such a
 * page has the name that the request is sent to, so only this service's published address and this machine count.
 */
function refuseOtherOrigins(
  { headers, host }: FastifyRequest,
  corsOrigins: readonly string[],
  published: string,
): void {
  const { origin } = headers;
  if (origin === undefined || corsOrigins.includes("*") || corsOrigins.includes(origin) || origin === published) return;
  const page = URL.parse(origin);
  if (page !== null && page.host === host && isLoopbackName(page.hostname)) return;
  const message = "Pages of this origin may not call /mcp: the setting server.cors_origins admits them.";
  throw new Fault("forbidden", message, { code: "cross_site_request" });
}

async function send(reply: FastifyReply, answer: Response): Promise<unknown> {
  reply.code(answer.status);
  for (const [name, value] of answer.headers) reply.header(name, value);
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
  return reply.send(isStream ? answer.body : await answer.text());
}

/** Metadata of the protected resource (RFC 9728), by which clients find who issues tokens for it. */
export function resourceMetadata(
  issuers: readonly string[],
  originOf: GatewayRoutes["originOf"],
  isOpen: GatewayRoutes["isOpen"],
): FastifyPluginAsync {
  return routes(
    ...[METADATA, `${METADATA}${PATH}`].map((path) =>
      operation(
        `GET ${path}`,
        {
          summary: "Describes /mcp to MCP clients (RFC 9728).",
          tag: "MCP",
          permission: "public",
          answer: ResourceMetadata,
          others: { 404: ErrorAnswer },
        },
        async ({ request }) => {
          if (!isOpen()) throw nothingServed();
          return {
            resource: `${originOf(request)}${PATH}`,
            ...(issuers.length > 0 && { authorization_servers: [...issuers] }),
            bearer_methods_supported: ["header"],
            resource_name: "Parlance",
            resource_documentation: DOCUMENTATION,
          };
        },
      ),
    ),
  );
}
