/** Endpoints of a pool: the addresses that serve one deployment entry, and where they come from. */

import { isIPv6 } from "node:net";

export interface Endpoint {
  /** IP address or host name that connections go to. */
  host: string;
  port: number;
  /** Share of requests, relative to the other endpoints of the pool. */
  weight: number;
  /** Whether it serves only while no other endpoint is available. */
  isBackup: boolean;
}

export type EndpointSource = DnsSource | FileSource;

export interface DnsSource {
  kind: "dns";
  /** Fully qualified. */
  name: string;
  /** `A`: also AAAA, where a name has no A records. */
  recordType: "A" | "SRV";
  /** Addresses with optional ports; empty: those of the system. */
  nameservers: readonly string[];
  /** Upper bound; a shorter TTL takes precedence. */
  refreshSeconds: number;
  /** Port of endpoints that the source gives without one. */
  defaultPort: number;
}

export interface FileSource {
  kind: "file";
  path: string;
  refreshSeconds: number;
  defaultPort: number;
}

/** Result of one lookup. */
export interface Discovered {
  endpoints: readonly Endpoint[];
  /** Seconds after which the result is outdated; undefined: not known. */
  ttlSeconds?: number | undefined;
  /** Why there are no endpoints, where there are none. */
  reason?: string | undefined;
}

/** Looks the endpoints up once. Throws an Error whose message says why the result is unknown. */
export type Discover = () => Promise<Discovered>;

/** Writes an address as `10.0.0.5:8000` or `[fd00::5]:8000`. */
export function formatAddress({ host, port }: Pick<Endpoint, "host" | "port">): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Names a source in logs and health reports. */
export function formatSource(source: EndpointSource): string {
  return source.kind === "file" ? `file ${source.path}` : `${source.recordType} ${source.name}`;
}
