/**
 * One guard for connections to addresses that others choose: callers, or an operator's configuration. It checks the
 * address that a connection really goes to, so neither a DNS record that changes nor a redirect leads past it.
 */

import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { Dispatcher } from "undici";
import { addressClass } from "./address-class.ts";
import { lookupPublicName } from "./public-lookup.ts";
import { Agent, buildConnector } from "./undici.ts";

/** `public`: for addresses from callers. `private`: also this machine and private networks, for the operator's. */
export type Reach = "public" | "private";

export interface OutgoingGuardOptions {
  reach: Reach;
  /** Default: for `public`, the system's name servers; for `private`, its resolver with all sources of names. */
  lookup?: LookupFunction;
  connectTimeoutMs?: number;
}

/** Refused address. The message does not say whether the name exists or what answers there. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
  /** Read by libraries that only pass the code on. */
  readonly code = "ERR_ADDRESS_REFUSED";
}

const CONNECT_TIMEOUT_MS = 10_000;
const LOOKUP_TIMEOUT_MS = 5_000;
/** Servers may ask for ten minutes otherwise, in which one with many names would take up the sockets of the process. */
const MAX_IDLE_MS = 4_000;
/** Characters that programs read differently: white space, control characters and backslashes. */
const AMBIGUOUS = /[\s\\\p{Cc}]/u;

export class OutgoingGuard {
  /** Connects to allowed addresses only. Give it to undici's `request`, `fetch` and clients. */
  readonly dispatcher: Dispatcher;
  readonly #reach: Reach;
  readonly #lookup: LookupFunction;

  constructor({ reach, lookup, connectTimeoutMs = CONNECT_TIMEOUT_MS }: OutgoingGuardOptions) {
    this.#reach = reach;
    this.#lookup = lookup ?? (reach === "public" ? lookupPublicName : systemLookup);
    const connect = this.connector({ timeout: connectTimeoutMs });
    this.dispatcher = new Agent({ connect, keepAliveMaxTimeout: MAX_IDLE_MS });
  }

  /** Returns a connector for undici's pools that connects to allowed addresses only. */
  connector(given: buildConnector.BuildOptions): buildConnector.connector {
    const connect = buildConnector({ ...given, allowH2: false, lookup: this.#guardedLookup });
    return (options, callback) => {
      // Node looks up names only.
      const host = options.hostname.replace(/^\[|\]$/g, "");
      if (isIP(host) === 0 || this.#allows(host)) return connect(options, callback);
      callback(refused(host), null);
    };
  }

  /**
   * Checks a URL that another program will fetch. That program looks the name up again and follows redirects, so prefer
   * to fetch it here. Throws AddressRefused.
   */
  async check(url: string): Promise<void> {
    const { hostname } = parseUrl(url);
    const host = hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) !== 0) {
      if (!this.#allows(host)) throw refused(host);
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(refused(host)), LOOKUP_TIMEOUT_MS);
    this.#guardedLookup(host, { all: true }, (error) => (error === null ? resolve() : reject(error)));
    await promise.finally(() => clearTimeout(timer));
  }

  /** Aborts what is in flight. */
  async close(): Promise<void> {
    await this.dispatcher.destroy();
  }

  /** Refuses a name if any of its addresses is not allowed: Node may connect to each of them. */
  readonly #guardedLookup: LookupFunction = (hostname, options, callback) => {
    this.#lookup(hostname, { ...options, all: true }, (error, found) => {
      const addresses = typeof found === "string" ? [{ address: found, family: isIP(found) }] : (found ?? []);
      const [first] = addresses;
      const isAllowed = addresses.every(({ address }) => this.#allows(address));
      if (error !== null || first === undefined || !isAllowed) return callback(refused(hostname), []);
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };

  #allows(address: string): boolean {
    const addressKind = addressClass(address);
    return addressKind === "public" || (addressKind === "private" && this.#reach === "private");
  }
}

/** Parses an address for a connection. Throws AddressRefused unless every program reads the same host in it. */
export function parseUrl(text: string): URL {
  const url = AMBIGUOUS.test(text) ? null : URL.parse(text);
  const isPlain = url !== null && /^https?:\/\/[^/]/i.test(text) && url.username === "" && url.password === "";
  if (isPlain) return url;
  throw new AddressRefused("it is not a plain http: or https: URL");
}

function refused(host: string): AddressRefused {
  return new AddressRefused(`${host.slice(0, 253)} has no address that may be connected to`);
}
