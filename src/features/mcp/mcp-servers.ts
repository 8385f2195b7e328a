/** The MCP servers of the configuration: who may use which tools, what they offer, and connections to them. */

import type { Caller } from "../../contracts/caller.ts";
import { resultWithin } from "../../kernel/async/timeout.ts";
import type { Logger } from "../../kernel/logger.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import {
  CONNECT_TIMEOUT_MS,
  ConfiguredServer,
  type ConnectOptions,
  connectsAs,
  maxBytesOf,
  NOT_LISTED,
  type ServerState,
} from "./configured-server.ts";
import { isConnectionRequired } from "./grants/grant-faults.ts";
import { grantOwnerOf } from "./grants/grant-owner.ts";
import type { McpGrants } from "./grants/mcp-grants.ts";
import { usesOAuth } from "./grants/oauth-server.ts";
import { type Account, openHttpTransport } from "./http-transport.ts";
import { McpConnection } from "./mcp-connection.ts";
import type { McpOffer, OfferKind } from "./mcp-offer.ts";
import { describeFailure } from "./mcp-result.ts";
import { AccountLists, listOnce } from "./offer-lists.ts";
import { type AccessEntry, accessOf, type ServerAccess } from "./server-access.ts";
import type { McpServerSettings, McpSettings } from "./settings.ts";

export interface McpServersOptions {
  servers: readonly McpServerSettings[];
  settings: McpSettings;
  /** Accounts of callers, opened by the first server with `oauth`. Throws a Fault where they cannot work. */
  grants: () => McpGrants;
  logger: Logger;
  /** For addresses of callers. Default: one that reaches public addresses only. */
  callerGuard?: OutgoingGuard;
}

/** Methods that have a price only where the configuration names them. */
const OTHER_METHODS: ReadonlySet<string> = new Set(["prompts/get", "resources/read", "completion/complete"]);
const MAX_CALLER_RESULT = 1024 * 1024;
const CALLER_TIMEOUT_MS = 60_000;

/** How a caller's server is reached. */
interface CallerServer {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Counts bytes that its answers occupy, in addition to those before. Throws a Fault when too many are in memory. */
  hold: (bytes: number) => void;
}

/** A server that a request may use. */
export interface McpServer extends ServerAccess {
  /** Name in the configuration, or the label that the caller gave it. */
  name: string;
  /** Settings of the configuration; undefined for a server that the caller named by its address. */
  settings: McpServerSettings | undefined;
  timeoutMs: number;
  maxResultBytes: number;
  /** US dollars of a call of a tool, or of another method such as `resources/read`; undefined: no price is known. */
  priceOf(use: string): string | undefined;
  /** Whether requests share its lists for a minute, rather than that each reads one. */
  sharesLists: boolean;
  /** Returns all that the server has, whether the caller may use it or not. */
  list<Kind extends OfferKind>(kind: Kind, signal: AbortSignal): Promise<McpOffer[Kind]>;
  /** Returns a connection, which the user closes with `release`. Requests of several clients share that to a process. */
  connect(options?: ConnectOptions): { connection: McpConnection; release: () => Promise<void> };
}

export class McpServers {
  readonly #options: McpServersOptions;
  #byName: ReadonlyMap<string, ConfiguredServer> = new Map();
  /** Servers that were removed or changed, while requests still run there. */
  readonly #retiring = new Set<ConfiguredServer>();
  readonly #accountLists = new AccountLists();
  /** For servers of the operator, which may be on this machine. */
  readonly #privateGuard = new OutgoingGuard({ reach: "private" });
  readonly #callerGuard: OutgoingGuard;

  constructor(options: McpServersOptions) {
    this.#options = options;
    this.#callerGuard = options.callerGuard ?? new OutgoingGuard({ reach: "public" });
    this.apply(options.servers);
  }

  /** Takes the servers of a changed configuration. Requests that run at a former one end normally. */
  apply(servers: readonly McpServerSettings[]): void {
    const former = new Set(this.#byName.values());
    this.#byName = new Map(
      servers.map((settings) => {
        const same = this.#byName.get(settings.name);
        if (same === undefined || !connectsAs(same.settings, settings)) return [settings.name, this.#open(settings)];
        former.delete(same);
        same.settings = settings;
        return [settings.name, same];
      }),
    );
    if (former.size > 0) this.#accountLists.clear();
    for (const server of former) {
      this.#retiring.add(server);
      void server.retire().finally(() => this.#retiring.delete(server));
    }
  }

  get acceptsCallerServers(): boolean {
    return this.#options.settings.callerServers === "public";
  }

  get count(): number {
    return this.#byName.size;
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  names(): string[] {
    return [...this.#byName.keys()];
  }

  settingsOf(name: string): McpServerSettings | undefined {
    return this.#byName.get(name)?.settings;
  }

  /** Returns the servers of which a caller may use any tool. */
  visibleTo(caller: Caller): McpServer[] {
    return [...this.#byName.keys()].flatMap((name) => this.find(name, caller) ?? []);
  }

  /**
   * Returns a server of the configuration; undefined where the caller's project may not use it. `authorization`: the
   * caller's own, in place of the operator's.
   */
  find(name: string, caller: Caller, authorization?: string): McpServer | undefined {
    const server = this.#byName.get(name);
    if (server === undefined) return undefined;
    const { access } = server.settings;
    const entries = access.filter(({ projects }) => projects?.includes(caller.projectId ?? "") !== false);
    return entries.length === 0 ? undefined : this.#server(server, entries, caller, authorization);
  }

  /** Returns a server with all its tools, for operators; undefined: no server has this name. */
  findForOperator(name: string, operator: Caller): McpServer | undefined {
    const server = this.#byName.get(name);
    return server && this.#server(server, [{}], operator);
  }

  /** Returns all servers with all their tools, for operators. */
  listForOperator(operator: Caller): McpServer[] {
    return [...this.#byName.keys()].flatMap((name) => this.findForOperator(name, operator) ?? []);
  }

  /** Lists a server's tools if the last list is old, and resolves with its state after `waitMs`. */
  async check({ name, settings, list }: McpServer, waitMs: number): Promise<ServerState> {
    const beganAt = performance.now();
    let account: Pick<ServerState, "tools" | "problem" | "needsAccount"> | undefined;
    const listing = list("tools", new AbortController().signal).then(
      (tools) => {
        account = { tools, problem: undefined };
      },
      (failure) => {
        account = { tools: [], problem: describeFailure(failure), needsAccount: isConnectionRequired(failure) };
      },
    );
    await resultWithin(listing, waitMs);
    const { facts, ...state } = this.#byName.get(name)?.state ?? NOT_LISTED;
    const durationMs = Math.round(performance.now() - beganAt);
    // Another account may see other tools.
    if (settings?.oauth !== undefined && account) return { checkedAt: Date.now(), durationMs, ...account, facts };
    return { ...state, facts };
  }

  /** Connects to a server that is not configured yet. Resolves with its state; the connection is closed then. */
  async test(settings: McpServerSettings, signal: AbortSignal): Promise<ServerState> {
    const server = this.#open(settings);
    this.#retiring.add(server);
    try {
      return await server.probe(signal);
    } finally {
      await server.close();
      this.#retiring.delete(server);
    }
  }

  #open(settings: McpServerSettings): ConfiguredServer {
    return new ConfiguredServer(settings, { guard: this.#privateGuard, logger: this.#options.logger });
  }

  #server(
    server: ConfiguredServer,
    entries: readonly AccessEntry[],
    caller: Caller,
    authorization?: string,
  ): McpServer {
    const { settings } = server;
    const { name, timeoutSeconds, maxResultSize, prices, pricePerCall } = settings;
    const { grants } = this.#options;
    const openAccount = usesOAuth(settings) ? async () => grants().session(settings, grantOwnerOf(caller)) : undefined;
    const connect = (connection?: ConnectOptions) => server.connect({ authorization, openAccount }, connection);
    return {
      ...accessOf(entries),
      name,
      settings,
      timeoutMs: timeoutSeconds * 1000,
      maxResultBytes: maxResultSize,
      priceOf: (use) => {
        if (Object.hasOwn(prices, use)) return prices[use];
        return OTHER_METHODS.has(use) ? undefined : pricePerCall;
      },
      sharesLists: openAccount !== undefined || authorization === undefined,
      // What a server offers may depend on whose token it gets.
      list: (kind, signal) => {
        if (openAccount !== undefined) return this.#listOfAccount(server, kind, openAccount);
        return authorization === undefined ? server.list(kind) : listOnce(kind, connect, signal);
      },
      connect,
    };
  }

  /** Returns a server that a caller names by its address. */
  atAddress(name: string, { url, headers, hold }: CallerServer): McpServer {
    const connect = () => {
      const maxBytes = maxBytesOf(MAX_CALLER_RESULT);
      const { dispatcher } = this.#callerGuard;
      const connection = new McpConnection({
        openTransport: (watch) => openHttpTransport({ url, headers, dispatcher, maxBytes, hold }, watch),
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
      });
      return { connection, release: () => connection.close() };
    };
    return {
      name,
      settings: undefined,
      timeoutMs: CALLER_TIMEOUT_MS,
      maxResultBytes: MAX_CALLER_RESULT,
      ...accessOf([{}]),
      priceOf: () => undefined,
      sharesLists: false,
      list: (kind, signal) => listOnce(kind, connect, signal),
      connect,
    };
  }

  async close(): Promise<void> {
    const closing = [...this.#byName.values(), ...this.#retiring].map((server) => server.close());
    await Promise.allSettled([...closing, this.#privateGuard.close(), this.#callerGuard.close()]);
  }

  async #listOfAccount<Kind extends OfferKind>(
    server: ConfiguredServer,
    kind: Kind,
    openAccount: () => Promise<Account>,
  ): Promise<McpOffer[Kind]> {
    const account = await openAccount();
    return this.#accountLists.list(account.key, kind, () => server.connect({ openAccount: async () => account }));
  }
}
