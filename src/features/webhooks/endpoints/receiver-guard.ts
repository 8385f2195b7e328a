/** Which addresses receivers may have that callers name: public ones, and hosts of the operator's list. */

import { isIPv6 } from "node:net";
import type { Dispatcher } from "undici";
import { invalidRequest } from "../../../kernel/faults.ts";
import { AddressRefused, OutgoingGuard } from "../../../kernel/outgoing/outgoing-guard.ts";

export class ReceiverGuard {
  readonly #privateHosts: ReadonlySet<string>;
  readonly #publicGuard = new OutgoingGuard({ reach: "public" });
  /** For hosts of the list only; it refuses link-local addresses, such as those of a cloud's metadata, too. */
  readonly #privateGuard = new OutgoingGuard({ reach: "private" });

  /** `privateHosts`: host names or addresses, with a port or for every port. */
  constructor(privateHosts: readonly string[]) {
    this.#privateHosts = new Set(privateHosts.map(toListedHost));
  }

  /** Connects to what the address may reach. */
  dispatcherFor(url: string): Dispatcher {
    return this.#guardFor(new URL(url)).dispatcher;
  }

  /** Throws a Fault for an address that no event is sent to. */
  async check(text: string): Promise<void> {
    const url = new URL(text);
    if (url.protocol !== "https:" && !this.#isPrivate(url)) {
      throw invalidRequest("Webhook endpoints need an https: URL.", "url", "invalid_value");
    }
    try {
      await this.#guardFor(url).check(text);
    } catch (failure) {
      if (!(failure instanceof AddressRefused)) throw failure;
      const way =
        "Use an address in the internet, or ask an operator to add the host to webhook_endpoints.private_hosts.";
      throw invalidRequest(`Events cannot be sent to this URL: ${failure.message}. ${way}`, "url", "address_refused");
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#publicGuard.close(), this.#privateGuard.close()]);
  }

  #guardFor(url: URL): OutgoingGuard {
    return this.#isPrivate(url) ? this.#privateGuard : this.#publicGuard;
  }

  #isPrivate({ protocol, hostname, port }: URL): boolean {
    const connected = port || (protocol === "https:" ? "443" : "80");
    return this.#privateHosts.has(`${hostname}:${connected}`) || this.#privateHosts.has(hostname);
  }
}

/** Writes the host as URLs do, which name no default port. */
function toListedHost(entry: string): string {
  const host = isIPv6(entry) ? `[${entry}]` : entry;
  const [suffix = ""] = /:\d+$/.exec(host) ?? [];
  const hostname = URL.parse(`https://${host.slice(0, host.length - suffix.length)}`)?.hostname ?? host;
  return `${hostname}${suffix}`.toLowerCase();
}
