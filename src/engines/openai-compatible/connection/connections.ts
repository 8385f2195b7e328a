/** Keep-alive connections of one deployment. */

import { readFile } from "node:fs/promises";
import { Socket } from "node:net";
import type { Dispatcher } from "undici";
import { invalidRequest } from "../../../kernel/faults.ts";
import { OutgoingGuard } from "../../../kernel/outgoing/outgoing-guard.ts";
import { buildConnector, Pool, ProxyAgent } from "../../../kernel/outgoing/undici.ts";
import type { UpstreamSettings } from "../connection-settings.ts";

type ConnectionSettings = Pick<UpstreamSettings, "baseUrl" | "connectTimeoutSeconds" | "endpoint" | "proxy" | "tls"> &
  Partial<Pick<UpstreamSettings, "isGuarded">>;

/** A request's view of the connection that opens for it. */
export interface Connecting {
  /** The connecting socket, to the proxy if there is one; undefined when an open connection is reused. */
  socket: Socket | undefined;
}

type Connector = buildConnector.connector;

export class Connections {
  readonly #dispatcher: Dispatcher;
  #beginning: Connecting | undefined;

  private constructor(settings: ConnectionSettings, tls: buildConnector.BuildOptions) {
    const timeout = settings.connectTimeoutSeconds * 1000;
    // HTTP/1.1 only: there a request's abort closes its socket.
    const shared = { allowH2: false, pipelining: 1 };
    if (settings.proxy === undefined) {
      const options = { ...tls, timeout, allowH2: false };
      const connector = settings.isGuarded === true ? guard().connector(options) : buildConnector(options);
      const connect = toAddress(connector, settings.endpoint);
      this.#dispatcher = new Pool(new URL(settings.baseUrl).origin, { ...shared, connect: this.#noting(connect) });
      return;
    }
    const pool = (origin: string | URL, options: object) =>
      new Pool(origin, { ...options, connect: this.#noting((options as { connect: Connector }).connect) });
    this.#dispatcher = new ProxyAgent({
      ...shared,
      uri: settings.proxy.reveal(),
      connectTimeout: timeout,
      requestTls: { ...tls, timeout, allowH2: false },
      factory: pool,
      // Asks the proxy for tunnels, which is a part of connecting.
      clientFactory: (origin, options) => pool(origin, { ...options, headersTimeout: timeout }),
    });
  }

  /** Throws a Fault when a TLS file cannot be read. */
  static async open(settings: ConnectionSettings): Promise<Connections> {
    const { tls } = settings;
    if (tls === undefined) return new Connections(settings, {});
    const options: buildConnector.BuildOptions = { rejectUnauthorized: tls.verify };
    if (tls.caFile !== undefined) options.ca = await readPem(tls.caFile, "ca_file");
    if (tls.certificateFile !== undefined) options.cert = await readPem(tls.certificateFile, "certificate_file");
    if (tls.keyFile !== undefined) options.key = await readPem(tls.keyFile, "key_file");
    if (tls.serverName !== undefined) options.servername = tls.serverName;
    return new Connections(settings, options);
  }

  /**
   * Sends a request. A new connection begins inside this very call, or for an upload in the microtask that undici queues
   * in it, so `connecting` then holds its socket: undici can abort a request only once it is connected, and a caller that
   * leaves before should close what was opened for it.
   */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler, connecting: Connecting): void {
    const begin = () => {
      this.#beginning = connecting;
    };
    const end = () => {
      this.#beginning = undefined;
    };
    const isUpload = typeof options.body === "object";
    if (isUpload) queueMicrotask(begin);
    begin();
    try {
      this.#dispatcher.dispatch(options, handler);
    } finally {
      end();
      if (isUpload) queueMicrotask(end);
    }
  }

  /** Aborts requests in flight. */
  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  #noting(connect: Connector): Connector {
    return (options, callback) => {
      // buildConnector gives back the socket that it opens, though its type does not say so; a proxy's tunnel, none.
      const socket = (connect as (...parameters: Parameters<Connector>) => unknown)(options, callback);
      if (this.#beginning !== undefined && socket instanceof Socket) this.#beginning.socket = socket;
    };
  }
}

let shared: OutgoingGuard | undefined;

/** Guard of upstreams that the API names: this machine and private networks are allowed, metadata services are not. */
function guard(): OutgoingGuard {
  shared ??= new OutgoingGuard({ reach: "private" });
  return shared;
}

/** Connects to an endpoint's address; undici takes the name for SNI and the certificate from `host`, the base URL's. */
function toAddress(connect: Connector, endpoint: ConnectionSettings["endpoint"]): Connector {
  if (endpoint === undefined) return connect;
  const address = { hostname: endpoint.host, port: String(endpoint.port) };
  return (options, callback) => connect({ ...options, ...address }, callback);
}

async function readPem(path: string, field: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw invalidRequest(`tls.${field}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
