/** Looks endpoints up in the DNS: A and AAAA records of a name, or SRV records and the addresses of their targets. */

import { Resolver } from "node:dns/promises";
import { withTimeout } from "../async/timeout.ts";
import type { Discover, Discovered, DnsSource, Endpoint } from "./endpoint.ts";

/** Timeout of one query to one name server; the second try has twice as long. */
const QUERY_MS = 1000;
const LOOKUP_MS = 15_000;
/** Codes of c-ares for NXDOMAIN and for a name without records of the type. Both are answers, unlike a failure. */
const NO_RECORDS: ReadonlySet<unknown> = new Set(["ENOTFOUND", "ENODATA"]);
/** Weight of SRV records with 0, which RFC 2782 gives "a very small chance". */
const MIN_WEIGHT = 0.01;

interface Address {
  address: string;
  ttl: number;
}

/** An answer without records is a result; a server that fails or does not answer throws. */
export function dnsEndpoints(source: DnsSource): Discover {
  const { name, recordType, nameservers, defaultPort } = source;
  const resolver = new Resolver({ timeout: QUERY_MS, tries: 2 });
  if (nameservers.length > 0) resolver.setServers([...nameservers]);
  const lookUp = recordType === "A" ? addressEndpoints : serviceEndpoints;
  return async () => {
    try {
      const discovered = await withTimeout(lookUp(resolver, name, defaultPort), LOOKUP_MS);
      if (discovered.endpoints.length > 0) return discovered;
      return { ...discovered, reason: `${name} has no ${recordType} records; it must be fully qualified` };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new Error(`the ${recordType} records of ${name} could not be looked up (${code ?? message})`);
    } finally {
      resolver.cancel();
    }
  };
}

async function addressEndpoints(resolver: Resolver, name: string, port: number): Promise<Discovered> {
  const addresses = await addressesOf(resolver, name);
  return {
    endpoints: addresses.map(({ address }) => ({ host: address, port, weight: 1, isBackup: false })),
    ttlSeconds: shortestTtl(addresses),
  };
}

/** Records of the lowest priority value serve; the others are backups. Weights are relative to their mean. */
async function serviceEndpoints(resolver: Resolver, name: string): Promise<Discovered> {
  const records = await orNone(resolver.resolveSrv(name));
  const first = Math.min(...records.map(({ priority }) => priority));
  const mean = meanWeight(records.filter(({ priority }) => priority === first).map(({ weight }) => weight));
  const resolved = await Promise.all(
    records.map(async (record) => ({ ...record, addresses: await addressesOf(resolver, record.name) })),
  );
  const endpoints = resolved.flatMap(({ addresses, port, weight, priority }) =>
    addresses.map(
      ({ address }): Endpoint => ({
        host: address,
        port,
        weight: mean === 0 ? 1 : Math.max(MIN_WEIGHT, weight / mean),
        isBackup: priority > first,
      }),
    ),
  );
  // Node does not return the TTL of SRV records; that of the targets' addresses is usually the same.
  return { endpoints, ttlSeconds: shortestTtl(resolved.flatMap(({ addresses }) => addresses)) };
}

/** AAAA only where there is no A: a dual-stack endpoint would count twice. */
async function addressesOf(resolver: Resolver, name: string): Promise<Address[]> {
  const a = await orNone(resolver.resolve4(name, { ttl: true }));
  return a.length > 0 ? a : orNone(resolver.resolve6(name, { ttl: true }));
}

async function orNone<Record>(query: Promise<Record[]>): Promise<Record[]> {
  try {
    return await query;
  } catch (error) {
    if (NO_RECORDS.has((error as NodeJS.ErrnoException).code)) return [];
    throw error;
  }
}

function meanWeight(weights: readonly number[]): number {
  return weights.length === 0 ? 0 : weights.reduce((sum, each) => sum + each, 0) / weights.length;
}

function shortestTtl(addresses: readonly Address[]): number | undefined {
  return addresses.length === 0 ? undefined : Math.min(...addresses.map(({ ttl }) => ttl));
}
