/** Requests to a server's authorization server, whose address the server names: through the guard, within bounds. */

import { AddressRefused, OutgoingGuard, parseUrl } from "../../../kernel/outgoing/outgoing-guard.ts";
import { type ProviderFetch, providerFetch } from "../../sign-on/index.ts";
import type { AuthorizedServer } from "./oauth-server.ts";

const TIMEOUT_MS = 10_000;

/** Fetches for the servers of the configuration. */
export class GrantFetches {
  readonly #privateGuard = new OutgoingGuard({ reach: "private" });
  readonly #publicGuard = new OutgoingGuard({ reach: "public" });

  /**
   * Returns the fetch for one server. The origins of `url` and `oauth.issuer`, which the operator chose, may be on this
   * machine or a private network, and may be http:. All others have to be public and https:. Redirects are not followed.
   */
  of({ url, oauth }: AuthorizedServer): ProviderFetch {
    const chosen = new Set([url, oauth.issuer ?? url].map((address) => new URL(address).origin));
    const [privateFetch, publicFetch] = [providerFetch(this.#privateGuard), providerFetch(this.#publicGuard)];
    return async (address, init) => {
      const { origin, protocol } = parseUrl(String(address));
      const isChosen = chosen.has(origin);
      if (!isChosen && protocol !== "https:") throw new AddressRefused(`${origin} is not encrypted (https:)`);
      const { signal } = init as { signal?: AbortSignal };
      const timeout = AbortSignal.timeout(TIMEOUT_MS);
      const bounded = { ...init, signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]) };
      try {
        return await (isChosen ? privateFetch : publicFetch)(String(address), bounded);
      } catch (failure) {
        // The library takes a TypeError for a page's missing permission (CORS), and tries another address.
        throw failure instanceof TypeError && failure.cause instanceof Error ? failure.cause : failure;
      }
    };
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#privateGuard.close(), this.#publicGuard.close()]);
  }
}
