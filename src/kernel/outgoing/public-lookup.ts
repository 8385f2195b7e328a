/**
 * Looks up names that callers choose, at the name servers of the system. Its resolver has threads that the whole process
 * shares: a few names whose servers stay silent would keep it from every other connection for minutes.
 */

import { Resolver } from "node:dns";
import type { LookupFunction } from "node:net";
import { promisify } from "node:util";

const TIMEOUT_MS = 5_000;
/** Time and tries at one name server, before the next one is asked. */
const ATTEMPT = { timeout: 2_000, tries: 2 };

/** Finds the addresses of both families, IPv4 first. */
export const lookupPublicName: LookupFunction = (hostname, _options, callback) => {
  // A new one each time: it reads the list of name servers only once.
  const resolver = new Resolver(ATTEMPT);
  const timer = setTimeout(() => resolver.cancel(), TIMEOUT_MS);
  const resolve4 = promisify(resolver.resolve4.bind(resolver) as Resolve);
  const resolve6 = promisify(resolver.resolve6.bind(resolver) as Resolve);
  Promise.allSettled([resolve4(hostname), resolve6(hostname)]).then(([first, second]) => {
    clearTimeout(timer);
    const addresses = [...toAddresses(first, 4), ...toAddresses(second, 6)];
    const failure =
      addresses.length === 0 && first.status === "rejected" ? (first.reason as NodeJS.ErrnoException) : null;
    callback(failure, addresses);
  });
};

type Resolve = (hostname: string, callback: (error: NodeJS.ErrnoException | null, addresses: string[]) => void) => void;

function toAddresses(result: PromiseSettledResult<string[]>, family: 4 | 6) {
  return result.status === "fulfilled" ? result.value.map((address) => ({ address, family })) : [];
}
