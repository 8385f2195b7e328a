import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../../http/operation.ts";
import { invalidRequest } from "../../../kernel/faults.ts";
import { AddressRefused, OutgoingGuard, parseUrl } from "../../../kernel/outgoing/outgoing-guard.ts";
import {
  ConnectionTestBody,
  toConnectionTest,
  toDiscoveredHosts,
} from "../../../wire/openai/organization/organization-connections.ts";
import { ConnectionTest, DiscoveredHosts } from "../../../wire/openapi/configuration-answers.ts";
import { type Accounts, requireDefaultOrganization, WRITE } from "../../accounts/index.ts";
import type { ConfigurationEntries } from "../entries.ts";
import { discoverHosts } from "./discover-hosts.ts";
import { type ConnectionAddress, testConnection } from "./test-connection.ts";

/** Time for a host, its models and a first token. */
const TEST_MS = 90_000;
const DISCOVER_MS = 15_000;

export interface ConnectionTestOptions {
  accounts: Accounts;
  entries: Pick<ConfigurationEntries, "connectionAddress">;
  /** Ports of this service, which it does not discover. */
  ownPorts: () => readonly number[];
  lifetime: AsyncDisposableStack;
}

/** POST /v1/organization/connections/test and /discover */
export function connectionTests({ accounts, entries, ownPorts, lifetime }: ConnectionTestOptions): FastifyPluginAsync {
  // Inference servers are on private networks and on this machine; metadata services are not allowed.
  const guard = new OutgoingGuard({ reach: "private", connectTimeoutMs: 5_000 });
  lifetime.defer(() => guard.close());
  return routes(
    (app) => requireDefaultOrganization(app, accounts),
    operation(
      "POST /connections/test",
      {
        ...WRITE,
        summary:
          "Tests an address and a key, or a stored connection: which server answers, its models with their context and abilities, and the time to the first token. Nothing is stored. Not in OpenAI's API.",
        body: ConnectionTestBody,
        answer: ConnectionTest,
      },
      async ({ body, reply }) => {
        const { connection, base_url, api_key, headers = {}, model } = body;
        const address: ConnectionAddress =
          connection === undefined
            ? { baseUrl: base_url ?? "", apiKey: api_key, headers }
            : entries.connectionAddress(connection);
        const leave = new AbortController();
        reply.raw.once("close", () => leave.abort());
        const signal = AbortSignal.any([leave.signal, AbortSignal.timeout(TEST_MS)]);
        try {
          parseUrl(address.baseUrl);
          return toConnectionTest(await testConnection(address, model, { guard, signal }));
        } catch (failure) {
          if (!(failure instanceof AddressRefused)) throw failure;
          const message = `Invalid value for 'base_url': ${failure.message}. Link-local addresses and metadata services are refused.`;
          throw invalidRequest(message, "base_url", "address_refused");
        }
      },
    ),
    operation(
      "POST /connections/discover",
      {
        ...WRITE,
        summary:
          "Finds inference servers on the machine of the service, at their default ports on loopback addresses. Not in OpenAI's API.",
        answer: DiscoveredHosts,
      },
      async ({ reply }) => {
        const leave = new AbortController();
        reply.raw.once("close", () => leave.abort());
        const signal = AbortSignal.any([leave.signal, AbortSignal.timeout(DISCOVER_MS)]);
        return toDiscoveredHosts(await discoverHosts({ guard, signal, except: ownPorts() }));
      },
    ),
  );
}
