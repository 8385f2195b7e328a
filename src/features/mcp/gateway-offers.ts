/** What the servers behind /mcp offer to one client, by the names that it uses. */

import type { Inference } from "../../inference/inference.ts";
import { withTimeout } from "../../kernel/async/timeout.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";
import { offeredName, offeredUri } from "./gateway-names.ts";
import type { GatewayRequest } from "./gateway-request.ts";
import { isConnectionRequired } from "./grants/grant-faults.ts";
import { type Entry, type GuardedEntries, type GuardedLists, guardListFault } from "./guarded-lists.ts";
import type { McpOffer, McpTool, OfferKind } from "./mcp-offer.ts";
import { describeFailure } from "./mcp-result.ts";
import type { McpServer, McpServers } from "./mcp-servers.ts";

/** Time for which a client waits for the list of one server. */
export const LIST_WAIT_MS = 5_000;
const PAGE_SIZE = 1000;

export interface Offered<Kind extends OfferKind> {
  server: McpServer;
  /** As the server names it. */
  entry: Entry<Kind>;
  /** As the client names it. */
  offered: Entry<Kind>;
  /** Why the client has to connect an account first; the tool says where. */
  required?: Fault;
}

/** Offered by a server until the client has connected an account. */
const CONNECT_TOOL: McpTool = {
  name: "connect",
  description:
    "Returns the address at which the user connects an account of this server. Its tools are listed afterwards.",
  inputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
};

interface KindOfOffer<Kind extends OfferKind> {
  allows(server: McpServer, entry: Entry<Kind>): boolean;
  /** Fields that identify an entry, which no guardrail changes. */
  identity(entry: Entry<Kind>): Partial<Entry<Kind>>;
  /** The same at /mcp, where all servers are. */
  identityAmongAll(entry: Entry<Kind>, server: string): Partial<Entry<Kind>>;
}

const KINDS: { readonly [Kind in OfferKind]: KindOfOffer<Kind> } = {
  tools: {
    allows: (server, { name }) => server.allowsTool(name),
    identity: ({ name }) => ({ name }),
    identityAmongAll: ({ name }, server) => ({ name: offeredName(name, server) }),
  },
  prompts: {
    allows: (server, { name }) => server.allowsPrompt(name),
    identity: ({ name }) => ({ name }),
    identityAmongAll: ({ name }, server) => ({ name: offeredName(name, server) }),
  },
  resources: {
    allows: (server, { uri }) => server.allowsResource(uri),
    identity: ({ uri }) => ({ uri }),
    identityAmongAll: ({ uri }, server) => ({ uri: offeredUri(uri, server) }),
  },
  templates: {
    allows: (server, { uriTemplate }) => server.allowsResource(uriTemplate),
    identity: ({ uriTemplate }) => ({ uriTemplate }),
    identityAmongAll: ({ uriTemplate }, server) => ({ uriTemplate: offeredUri(uriTemplate, server) }),
  },
};

interface GatewayOffersOptions {
  servers: McpServers;
  inference: Inference;
  lists: GuardedLists;
  logger: Logger;
}

/** Whom guardrails check a text for. */
type Reader = Pick<GatewayRequest, "caller" | "onDisconnect">;

export class GatewayOffers {
  readonly #options: GatewayOffersOptions;

  constructor(options: GatewayOffersOptions) {
    this.#options = options;
  }

  /** One page of a list. A server that does not answer is left out; throws a Fault when none does. */
  async page<Kind extends OfferKind>(
    kind: Kind,
    request: GatewayRequest,
    cursor: string | undefined,
  ): Promise<{ entries: Entry<Kind>[]; nextCursor?: string }> {
    const all = await this.list(kind, request, this.serversOf(request));
    // Clients of one server show why they have none of its tools.
    if (request.server !== undefined && all[0]?.required !== undefined) throw all[0].required;
    const from = /^\d{1,6}$/.test(cursor ?? "") ? Number(cursor) : 0;
    const entries = all.slice(from, from + PAGE_SIZE).map(({ offered }) => offered);
    const end = from + PAGE_SIZE;
    return { entries, ...(end < all.length && { nextCursor: String(end) }) };
  }

  /**
   * Finds a tool or prompt by the name that the client uses. A server that needs an account has the tool that says so for
   * every name.
   */
  async find<Kind extends "tools" | "prompts">(
    kind: Kind,
    request: GatewayRequest,
    name: string,
  ): Promise<Offered<Kind> | undefined> {
    const servers = this.serversOf(request).filter(
      (server) => request.server !== undefined || name.startsWith(`${server.name}__`),
    );
    const all = await this.list(kind, request, servers);
    return all.find(({ offered }) => offered.name === name) ?? all.find(({ required }) => required !== undefined);
  }

  /** Servers that the client may use at this address. */
  serversOf({ caller, server: only, toolset }: GatewayRequest): readonly McpServer[] {
    if (toolset !== undefined) return toolset.servers;
    return this.#options.servers.visibleTo(caller).filter(({ name }) => only === undefined || name === only);
  }

  async list<Kind extends OfferKind>(
    kind: Kind,
    request: GatewayRequest,
    servers: readonly McpServer[],
  ): Promise<Offered<Kind>[]> {
    const { identity, identityAmongAll } = KINDS[kind];
    const failures: Fault[] = [];
    const lists = servers.map(async (server) => {
      try {
        const listing = server.list(kind, new AbortController().signal);
        const entries = await this.#guard(kind, await withTimeout(listing, LIST_WAIT_MS), server, request);
        return entries.map(([entry, guarded]): Offered<Kind> => {
          const names = request.server === undefined ? identityAmongAll(entry, server.name) : identity(entry);
          return { server, entry, offered: { ...guarded, ...names } };
        });
      } catch (failure) {
        if (isConnectionRequired(failure)) {
          if (kind !== "tools") return [];
          const entry = CONNECT_TOOL as Entry<Kind>;
          const offered = { ...entry, ...identityAmongAll(entry, server.name) };
          return [{ server, entry, offered, required: failure }];
        }
        const reason = describeFailure(failure);
        this.#options.logger.warn(
          { mcpServer: server.name, kind, reason },
          "an MCP server did not list what it offers",
        );
        failures.push(await this.guardFault(notListed(server, kind, reason, failure), server, request));
        return [];
      }
    });
    const entries = (await Promise.all(lists)).flat();
    // An empty list would say that the servers offer nothing.
    if (failures[0] !== undefined && failures.length === servers.length) throw failures[0];
    return entries;
  }

  /** Returns those of a server's tools that the caller may use, as guardrails pass them on. Throws a Fault. */
  async guardTools(tools: readonly McpTool[], server: McpServer, reader: Reader): Promise<McpTool[]> {
    const entries = await this.#guard("tools", tools, server, reader);
    return entries.map(([{ name }, guarded]) => ({ ...guarded, name }));
  }

  /** Returns a failure of a server, of whose message it may have written a part, after the guardrails. */
  guardFault(fault: Fault, server: McpServer, reader: Reader): Promise<Fault> {
    return guardListFault(fault, this.#guardsOf(server, reader), "client");
  }

  #guard<Kind extends OfferKind>(
    kind: Kind,
    entries: McpOffer[Kind],
    server: McpServer,
    reader: Reader,
  ): Promise<GuardedEntries<Kind>> {
    const allows = (entry: Entry<Kind>) => KINDS[kind].allows(server, entry);
    const { sharesLists: isShared } = server;
    const guards = () => this.#guardsOf(server, reader);
    return this.#options.lists.guard<Kind>(entries, allows, guards, { reader: "client", isShared });
  }

  #guardsOf({ name }: McpServer, { caller, onDisconnect }: Reader) {
    return this.#options.inference.guardsOfTool(caller, `mcp/${name}`, onDisconnect);
  }
}

function notListed({ name }: McpServer, kind: OfferKind, reason: string, cause: unknown): Fault {
  const message = `The MCP server '${name}' did not list its ${kind}. ${reason}`;
  return new Fault("upstream-failed", message, { code: "mcp_server_failed", cause });
}
