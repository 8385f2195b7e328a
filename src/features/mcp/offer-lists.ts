/** Lists of what servers offer: how they are asked for, and those of accounts. */

import { growingCache } from "../../kernel/growing-cache.ts";
import type { McpConnection } from "./mcp-connection.ts";
import type { McpOffer, OfferKind } from "./mcp-offer.ts";

/** Time for which the lists of a server are remembered. */
export const LIST_MS = 60_000;
/** The same for a failure, so that requests do not wait for a server that is away. */
export const FAILED_LIST_MS = 3_000;
const LIST_TIMEOUT_MS = 20_000;
const MAX_ACCOUNT_LISTS = 600;

type Connect = () => { connection: McpConnection; release: () => Promise<void> };

/** `startTimeoutMs`: further time that a process has to start. */
export async function listOnce<Kind extends OfferKind>(
  kind: Kind,
  connect: Connect,
  signal: AbortSignal,
  startTimeoutMs = 0,
): Promise<McpOffer[Kind]> {
  const { connection, release } = connect();
  try {
    return await connection.list(
      kind,
      AbortSignal.any([signal, AbortSignal.timeout(startTimeoutMs + LIST_TIMEOUT_MS)]),
    );
  } finally {
    void release();
  }
}

/** What servers offer to accounts. Requests of one account share a list, which no other account sees. */
export class AccountLists {
  readonly #lists = growingCache<Promise<McpOffer[OfferKind]>>(MAX_ACCOUNT_LISTS, { ttlMs: LIST_MS });

  clear(): void {
    this.#lists.clear();
  }

  /** `account`: names an account and its tokens. */
  list<Kind extends OfferKind>(account: string, kind: Kind, connect: Connect): Promise<McpOffer[Kind]> {
    const key = `${account} ${kind}`;
    const cached = this.#lists.get(key);
    if (cached !== undefined) return cached as Promise<McpOffer[Kind]>;
    const entries = listOnce(kind, connect, new AbortController().signal);
    this.#lists.set(key, entries);
    entries.catch(() => this.#lists.set(key, entries, { ttl: FAILED_LIST_MS }));
    return entries;
  }
}
