/** The MCP servers of the configuration: who may use which tools, what they offer, and connections to them. */

import { resultWithin } from "../../kernel/async/timeout.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Caller } from "../accounts/caller.ts";
import { isConnectionRequired } from "./grants/grant-faults.ts";
import { grantOwnerOf } from "./grants/grant-owner.ts";
import type { McpGrants } from "./grants/mcp-grants.ts";
import { usesOAuth } from "./grants/oauth-server.ts";
import { type Account, openHttpTransport } from "./http-transport.ts";
import { type KnownEra, McpConnection, type McpConnectionOptions, type ServerFacts } from "./mcp-connection.ts";
import type { McpOffer, McpTool, OfferKind } from "./mcp-offer.ts";
import { describeFailure } from "./mcp-result.ts";
import { AccountLists, FAILED_LIST_MS, LIST_MS, listOnce } from "./offer-lists.ts";
import { type AccessEntry, accessOf, type ServerAccess } from "./server-access.ts";
import { ServerProcess } from "./server-process.ts";
import type { McpServerSettings, McpSettings } from "./settings.ts";

export interface McpServersOptions {
  servers: readonly McpServerSettings[];
  settings: McpSettings;
  /** Accounts of callers; undefined: no server has `oauth`. */
  grants: McpGrants | undefined;
  logger: Logger;
}

/** What a connection is for. */
export type ConnectOptions = Pick<McpConnectionOptions, "peer" | "onResourceUpdated">;

/** Methods that have a price only where the configuration names them. */
const OTHER_METHODS: ReadonlySet<string> = new Set(["prompts/get", "resources/read", "completion/complete"]);
const CONNECT_TIMEOUT_MS = 10_000;
/** Programs may have to be downloaded first, as by npx, or load an interpreter's libraries. */
const PROCESS_START_TIMEOUT_MS = 60_000;
/** Bytes of all answers of a connection to a server whose results may have `maxResultSize`: JSON and base64 take more. */
const OVERHEAD = { factor: 4, bytes: 4 * 1024 * 1024 };
const MAX_CALLER_RESULT = 1024 * 1024;
const CALLER_TIMEOUT_MS = 60_000;

/** What a connection has in place of, or beside, the headers of the configuration: the caller's header or account. */
interface Credentials {
  authorization?: string | undefined;
  openAccount?: (() => Promise<Account>) | undefined;
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
  /** Returns all that the server has, whether the caller may use it or not. */
  list<Kind extends OfferKind>(kind: Kind, signal: AbortSignal): Promise<McpOffer[Kind]>;
  /** Returns a connection, which the user closes with `release`. Requests of several clients share that to a process. */
  connect(options?: ConnectOptions): { connection: McpConnection; release: () => Promise<void> };
}

/** What the last list of a server's tools showed. */
export interface ServerState {
  /** Undefined: its tools are being listed for the first time. */
  checkedAt: number | undefined;
  durationMs: number | undefined;
  tools: readonly McpTool[];
  /** Why it did not list its tools. */
  problem: string | undefined;
  /** True: the caller has to connect an account first. */
  needsAccount?: boolean;
  facts: ServerFacts | undefined;
}

export class McpServers {
  readonly #options: McpServersOptions;
  readonly #byName: ReadonlyMap<string, McpServerSettings>;
  readonly #processes = new Map<string, ServerProcess>();
  readonly #eras = new Map<string, KnownEra>();
  readonly #facts = new Map<string, ServerFacts>();
  readonly #states = new Map<string, Omit<ServerState, "facts">>();
  /** By server and kind. */
  readonly #lists = new Map<string, { entries: Promise<McpOffer[OfferKind]>; until: number }>();
  readonly #accountLists = new AccountLists();
  /** For servers of the operator, which may be on this machine. */
  readonly #privateGuard = new OutgoingGuard({ reach: "private" });
  readonly #publicGuard = new OutgoingGuard({ reach: "public" });

  constructor(options: McpServersOptions) {
    this.#options = options;
    this.#byName = new Map(options.servers.map((server) => [server.name, server]));
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

  /** Returns the servers of which a caller may use any tool. */
  visibleTo(caller: Caller): McpServer[] {
    return [...this.#byName.keys()].flatMap((name) => this.find(name, caller) ?? []);
  }

  /**
   * Returns a server of the configuration; undefined where the caller's project may not use it. `authorization`: the
   * caller's own, in place of the operator's.
   */
  find(name: string, caller: Caller, authorization?: string): McpServer | undefined {
    const settings = this.#byName.get(name);
    if (settings === undefined) return undefined;
    const entries = settings.access.filter(({ projects }) => projects?.includes(caller.projectId ?? "") !== false);
    return entries.length === 0 ? undefined : this.#server(settings, entries, caller, authorization);
  }

  /** Returns a server with all its tools, for operators; undefined: no server has this name. */
  findForOperator(name: string, operator: Caller): McpServer | undefined {
    const settings = this.#byName.get(name);
    return settings && this.#server(settings, [{}], operator);
  }

  /** Returns all servers with all their tools, for operators. */
  listForOperator(operator: Caller): McpServer[] {
    return [...this.#byName.keys()].flatMap((name) => this.findForOperator(name, operator) ?? []);
  }

  /** Lists a server's tools if the last list is old, and resolves with what is known after `waitMs`. */
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
    const facts = this.#facts.get(name);
    const durationMs = Math.round(performance.now() - beganAt);
    // Another account may see other tools.
    if (settings?.oauth !== undefined && account) return { checkedAt: Date.now(), durationMs, ...account, facts };
    const unknown = { checkedAt: undefined, durationMs: undefined, tools: [], problem: undefined };
    return { ...(this.#states.get(name) ?? unknown), facts };
  }

  #server(
    settings: McpServerSettings,
    entries: readonly AccessEntry[],
    caller: Caller,
    authorization?: string,
  ): McpServer {
    const { name } = settings;
    const { timeoutSeconds, maxResultSize, prices, pricePerCall } = settings;
    const { grants } = this.#options;
    const openAccount =
      grants !== undefined && usesOAuth(settings) ? () => grants.session(settings, grantOwnerOf(caller)) : undefined;
    const connect = (connection?: ConnectOptions) =>
      this.#connect(settings, { authorization, openAccount }, connection);
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
      // What a server offers may depend on whose token it gets.
      list: (kind, signal) => {
        if (openAccount !== undefined) return this.#listOfAccount(settings, kind, openAccount);
        return authorization === undefined ? this.#list(name, kind, connect) : listOnce(kind, connect, signal);
      },
      connect,
    };
  }

  /** Returns a server that a caller names by its address. */
  atAddress(name: string, url: string, headers: Readonly<Record<string, string>>): McpServer {
    const connect = () => {
      const maxBytes = maxBytesOf(MAX_CALLER_RESULT);
      const { dispatcher } = this.#publicGuard;
      const connection = new McpConnection({
        openTransport: (watch) => openHttpTransport({ url, headers, dispatcher, maxBytes }, watch),
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
      list: (kind, signal) => listOnce(kind, connect, signal),
      connect,
    };
  }

  async close(): Promise<void> {
    const closing = [...this.#processes.values()].map((process) => process.close());
    await Promise.allSettled([...closing, this.#privateGuard.close(), this.#publicGuard.close()]);
  }

  #connect(settings: McpServerSettings, { authorization, openAccount }: Credentials, options: ConnectOptions = {}) {
    const { name, url, headers, maxResultSize } = settings;
    const maxBytes = maxBytesOf(maxResultSize);
    if (url === undefined) return { connection: this.#processOf(settings).connect(), release: async () => {} };
    const sent = Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value.reveal()]);
    const all = { ...Object.fromEntries(sent), ...(authorization !== undefined && { authorization }) };
    const { dispatcher } = this.#privateGuard;
    const connection = new McpConnection({
      openTransport: async (watch) => {
        const account = await openAccount?.();
        return openHttpTransport({ url, headers: all, dispatcher, maxBytes, account }, watch);
      },
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      era: this.#eras.get(name),
      onEra: (era, facts) => {
        this.#eras.set(name, era);
        this.#facts.set(name, facts);
      },
      ...options,
    });
    return {
      connection,
      release: async () => {
        // It may have been upgraded to the other era, which the next connection finds out.
        if (connection.hasFailed) this.#eras.delete(name);
        await connection.close();
      },
    };
  }

  #processOf({ name, command = [], environment, maxResultSize }: McpServerSettings): ServerProcess {
    let running = this.#processes.get(name);
    if (running === undefined) {
      const { logger } = this.#options;
      const maxBytes = maxBytesOf(maxResultSize);
      const connectTimeoutMs = PROCESS_START_TIMEOUT_MS;
      const onFacts = (facts: ServerFacts) => this.#facts.set(name, facts);
      const onListChanged = (kind: OfferKind) => this.#lists.delete(`${name} ${kind}`);
      const options = { name, command, environment, maxBytes, connectTimeoutMs, onFacts, onListChanged, logger };
      running = new ServerProcess(options);
      this.#processes.set(name, running);
    }
    return running;
  }

  async #listOfAccount<Kind extends OfferKind>(
    settings: McpServerSettings,
    kind: Kind,
    openAccount: () => Promise<Account>,
  ): Promise<McpOffer[Kind]> {
    const account = await openAccount();
    const connect = () => this.#connect(settings, { openAccount: async () => account });
    return this.#accountLists.list(account.key, kind, connect);
  }

  /** All requests share one list, and one request for it. */
  #list<Kind extends OfferKind>(name: string, kind: Kind, connect: McpServer["connect"]): Promise<McpOffer[Kind]> {
    const key = `${name} ${kind}`;
    const cached = this.#lists.get(key);
    if (cached !== undefined && Date.now() < cached.until) return cached.entries as Promise<McpOffer[Kind]>;
    const isProcess = this.#byName.get(name)?.command !== undefined;
    const beganAt = performance.now();
    const timeoutMs = isProcess ? PROCESS_START_TIMEOUT_MS : undefined;
    const entries = listOnce(kind, connect, new AbortController().signal, timeoutMs);
    this.#lists.set(key, { entries, until: Date.now() + LIST_MS });
    const noteState = (state: Partial<Pick<ServerState, "tools">> & Pick<ServerState, "problem">) => {
      if (kind !== "tools") return;
      const durationMs = Math.round(performance.now() - beganAt);
      const tools = this.#states.get(name)?.tools ?? [];
      this.#states.set(name, { checkedAt: Date.now(), durationMs, tools, ...state });
    };
    entries.then(
      (list) => noteState({ tools: list as readonly McpTool[], problem: undefined }),
      (failure) => {
        noteState({ problem: describeFailure(failure) });
        this.#lists.set(key, { entries, until: Date.now() + FAILED_LIST_MS });
      },
    );
    return entries;
  }
}

function maxBytesOf(maxResultSize: number): number {
  return maxResultSize * OVERHEAD.factor + OVERHEAD.bytes;
}
