/** What the servers behind /mcp offer to one client, by the names that it uses. */

import { guardToolCall, isRefusal } from "../../inference/guardrails/guard-tool.ts";
import type { Inference } from "../../inference/inference.ts";
import { withTimeout } from "../../kernel/async/timeout.ts";
import { Fault } from "../../kernel/faults.ts";
import { parseObject } from "../../kernel/json/parse-object.ts";
import type { Logger } from "../../kernel/logger.ts";
import { offeredName, offeredUri } from "./gateway-names.ts";
import type { GatewayRequest } from "./gateway-request.ts";
import { isConnectionRequired } from "./grants/grant-faults.ts";
import { guardFault } from "./guard-tool-result.ts";
import type { McpOffer, McpTool, OfferKind } from "./mcp-offer.ts";
import { describeFailure } from "./mcp-result.ts";
import type { McpServer, McpServers } from "./mcp-servers.ts";

/** Time for which a client waits for the list of one server. */
export const LIST_WAIT_MS = 5_000;
const PAGE_SIZE = 1000;

type Entry<Kind extends OfferKind> = McpOffer[Kind][number];

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

/** Each entry with its form after the guardrails. */
type GuardedEntries<Kind extends OfferKind> = readonly (readonly [Entry<Kind>, Entry<Kind>])[];

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

export class GatewayOffers {
  readonly #servers: McpServers;
  readonly #inference: Inference;
  readonly #logger: Logger;
  /** Lists after the guardrails of a policy, as long as the servers' lists are remembered. */
  readonly #guarded = new WeakMap<object, Map<string, GuardedEntries<OfferKind>>>();

  constructor(servers: McpServers, inference: Inference, logger: Logger) {
    this.#servers = servers;
    this.#inference = inference;
    this.#logger = logger;
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
    return this.#servers.visibleTo(caller).filter(({ name }) => only === undefined || name === only);
  }

  async list<Kind extends OfferKind>(
    kind: Kind,
    request: GatewayRequest,
    servers: readonly McpServer[],
  ): Promise<Offered<Kind>[]> {
    const { allows, identity, identityAmongAll } = KINDS[kind];
    const failures: Fault[] = [];
    const lists = servers.map(async (server) => {
      try {
        const listing = server.list(kind, new AbortController().signal);
        const entries = await this.#guardedList<Kind>(request, server, await withTimeout(listing, LIST_WAIT_MS));
        return entries.flatMap(([entry, guarded]): Offered<Kind>[] => {
          if (!allows(server, entry)) return [];
          const names = request.server === undefined ? identityAmongAll(entry, server.name) : identity(entry);
          return [{ server, entry, offered: { ...guarded, ...names } }];
        });
      } catch (failure) {
        if (isConnectionRequired(failure)) {
          if (kind !== "tools") return [];
          const entry = CONNECT_TOOL as Entry<Kind>;
          const offered = { ...entry, ...identityAmongAll(entry, server.name) };
          return [{ server, entry, offered, required: failure }];
        }
        const reason = describeFailure(failure);
        this.#logger.warn({ mcpServer: server.name, kind, reason }, "an MCP server did not list what it offers");
        failures.push(await this.#guardedFault(request, server, notListed(server, kind, reason, failure)));
        return [];
      }
    });
    const entries = (await Promise.all(lists)).flat();
    // An empty list would say that the servers offer nothing.
    if (failures[0] !== undefined && failures.length === servers.length) throw failures[0];
    return entries;
  }

  /** Returns the fault with its message, of which a server wrote a part, after the guardrails of the project; or theirs. */
  async #guardedFault({ caller, onDisconnect }: GatewayRequest, { name }: McpServer, fault: Fault): Promise<Fault> {
    const guards = this.#inference.guardsOfTool(caller, `mcp/${name}`, onDisconnect);
    if (guards === undefined) return fault;
    try {
      const { guardResult } = await guardToolCall(guards, {}, "client");
      return await guardFault(fault, guardResult);
    } catch (failure) {
      if (failure instanceof Fault) return failure;
      throw failure;
    } finally {
      guards.end();
    }
  }

  /** Returns each entry with its form after the guardrails of the project; those that a guardrail blocks are left out. */
  async #guardedList<Kind extends OfferKind>(
    { caller, onDisconnect }: GatewayRequest,
    server: McpServer,
    entries: McpOffer[Kind],
  ): Promise<GuardedEntries<Kind>> {
    const list = entries as readonly Entry<Kind>[];
    const name = `mcp/${server.name}`;
    const guards = list.length === 0 ? undefined : this.#inference.guardsOfTool(caller, name, onDisconnect);
    if (guards === undefined) return list.map((entry) => [entry, entry] as const);
    try {
      const key = JSON.stringify(guards.policy);
      const byPolicy = this.#guarded.get(entries) ?? new Map<string, GuardedEntries<OfferKind>>();
      this.#guarded.set(entries, byPolicy);
      const cached = byPolicy.get(key) as GuardedEntries<Kind> | undefined;
      if (cached !== undefined) return cached;
      const { guardResult } = await guardToolCall(guards, {}, "client");
      const guarded = await guardEntries<Kind>(list, (texts) => guardResult(texts));
      byPolicy.set(key, guarded);
      return guarded;
    } finally {
      guards.end();
    }
  }
}

function notListed({ name }: McpServer, kind: OfferKind, reason: string, cause: unknown): Fault {
  const message = `The MCP server '${name}' did not list its ${kind}. ${reason}`;
  return new Fault("upstream-failed", message, { code: "mcp_server_failed", cause });
}

async function guardEntries<Kind extends OfferKind>(
  list: readonly Entry<Kind>[],
  check: (texts: readonly string[]) => Promise<readonly string[]>,
): Promise<GuardedEntries<Kind>> {
  const texts = list.map((entry) => JSON.stringify(entry));
  const guarded = await check(texts).catch((failure: unknown) => {
    if (!isRefusal(failure)) throw failure;
    return undefined;
  });
  // A refusal does not name the entry: each is checked alone.
  const each = guarded ?? (await checkEach(texts, check));
  return list.flatMap((entry, index) => {
    const text = each[index];
    const object = text === undefined ? undefined : parseObject(text);
    return object === undefined ? [] : [[entry, object as Entry<Kind>] as const];
  });
}

/** Returns undefined for a text that a guardrail refuses. */
async function checkEach(
  texts: readonly string[],
  check: (texts: readonly string[]) => Promise<readonly string[]>,
): Promise<(string | undefined)[]> {
  const output: (string | undefined)[] = [];
  for (const text of texts) {
    try {
      output.push((await check([text]))[0]);
    } catch (failure) {
      if (!isRefusal(failure)) throw failure;
      output.push(undefined);
    }
  }
  return output;
}
