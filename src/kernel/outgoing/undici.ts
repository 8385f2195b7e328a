/**
 * The part of undici that requests need. Its index also loads fetch, WebSocket, mocks and caches: 78 more modules and 2.5
 * MB more heap. What needs fetch or FormData imports the index when it is used.
 */

import api from "undici/lib/api/index.js";
import buildConnector from "undici/lib/core/connect.js";
import errors from "undici/lib/core/errors.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";
import Pool from "undici/lib/dispatcher/pool.js";
import ProxyAgent from "undici/lib/dispatcher/proxy-agent.js";

// As the index does it: `request` and, for tunnels of ProxyAgent, `connect`.
Object.assign(Dispatcher.prototype, api);

export { Agent, buildConnector, EnvHttpProxyAgent, errors, Pool, ProxyAgent };

type RequestOptions = Partial<Omit<Dispatcher.RequestOptions, "origin" | "path">> & { dispatcher?: Dispatcher };

let direct: Agent | undefined;

/** `request` of undici. Without a dispatcher, connects directly. */
export function request(
  url: string | URL,
  { dispatcher, method = "GET", ...options }: RequestOptions,
): Promise<Dispatcher.ResponseData> {
  direct ??= new Agent();
  const { origin, pathname, search } = new URL(url);
  return (dispatcher ?? direct).request({ ...options, method, origin, path: pathname + search });
}
