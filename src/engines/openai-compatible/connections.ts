/** The kept-alive connections of one deployment. */

import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";
import { invalidRequest } from "../../faults.ts";
import type { OpenAiCompatibleSettings } from "./settings.ts";

type ConnectionSettings = Pick<OpenAiCompatibleSettings, "baseUrl" | "connectTimeoutSeconds" | "proxy" | "tls">;

/** What a request knows of the connection that is made for it. */
export interface Connecting {
  /** The socket on its way; undefined when an open one is used again, or the connection goes through a proxy. */
  socket: Socket | undefined;
}

export class Connections {
  readonly #dispatcher: Dispatcher;
  readonly #origin: string;
  #beginning: Connecting | undefined;

  private constructor(settings: ConnectionSettings, tls: buildConnector.BuildOptions) {
    this.#origin = new URL(settings.baseUrl).origin;
    const timeout = settings.connectTimeoutSeconds * 1000;
    // Time-outs other than the connection's are the exchange's own. HTTP/1.1 only: there a request's abort closes its socket.
    const shared = { allowH2: false, headersTimeout: 0, bodyTimeout: 0, pipelining: 1 };
    if (settings.proxy !== undefined) {
      const requestTls = { ...tls, timeout, allowH2: false };
      this.#dispatcher = new ProxyAgent({
        ...shared,
        uri: settings.proxy.reveal(),
        connectTimeout: timeout,
        requestTls,
      });
      return;
    }
    const connect = buildConnector({ ...tls, timeout, allowH2: false });
    this.#dispatcher = new Pool(this.#origin, {
      ...shared,
      connect: (options, callback) => {
        // buildConnector gives back the socket that it opens, though its type does not say so.
        const socket = (connect as (...parameters: Parameters<typeof connect>) => unknown)(options, callback);
        if (this.#beginning !== undefined) this.#beginning.socket = socket as Socket;
      },
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
   * Sends a request. A new connection begins inside this very call, so `connecting` then holds its socket: undici can
   * abort a request only once it is connected, and a caller that leaves before should close what was opened for it.
   */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler, connecting: Connecting): void {
    this.#beginning = connecting;
    try {
      this.#dispatcher.dispatch({ ...options, origin: this.#origin }, handler);
    } finally {
      this.#beginning = undefined;
    }
  }

  /** Ends requests in flight. */
  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

async function readPem(path: string, field: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw invalidRequest(`tls.${field}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
