/** Passes requests of a worker to the owner's server as they are, over a Unix domain socket, and its answers back. */

import type { Agent, IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { answerWithoutRoute } from "../http/errors.ts";
import { FORWARDED_HEADER } from "../http/forwarded-address.ts";
import { unavailable } from "../kernel/faults.ts";
import { http } from "../kernel/node-http.ts";

/** Headers of one connection, not of the request or answer (RFC 9110, section 7.6.1). */
const CONNECTION_HEADERS = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "expect"]);
/** Headers that describe a body as it was sent. */
const BODY_HEADERS = new Set(["content-length", "content-encoding"]);

export interface ForwardOptions {
  socketPath: string;
  /** Proves to the owner that the request comes from a worker. */
  secret: string;
}

export class ForwardToOwner {
  readonly #options: ForwardOptions;
  readonly #agent: Agent = new http.Agent({ keepAlive: true });
  #open = 0;

  constructor(options: ForwardOptions) {
    this.#options = options;
  }

  /** Requests and WebSockets whose answers are not yet sent completely. */
  get open(): number {
    return this.#open;
  }

  /** `body`: the decompressed body, where it was read already. */
  forward(request: IncomingMessage, response: ServerResponse, body?: Buffer): void {
    const { socketPath } = this.#options;
    // Left while the key was looked up or the body was parsed: nothing would end what the owner begins.
    if (response.destroyed) return;
    this.#open += 1;
    const headers = this.#headersOf(request, body);
    const forwarded = http.request({
      socketPath,
      agent: this.#agent,
      method: request.method,
      path: request.url,
      headers,
      setDefaultHeaders: false,
    });
    response.once("close", () => {
      this.#open -= 1;
      // The client has left, or has its answer while it still sends the body.
      if (!response.writableFinished || !request.complete) forwarded.destroy();
    });
    forwarded.once("response", (answer) => sendBack(answer, response));
    forwarded.on("error", () => {
      if (response.headersSent || response.destroyed) response.destroy();
      else answerWithoutRoute(response, restarting());
    });
    if (body === undefined && isBodyAnnounced(request)) request.pipe(forwarded);
    else forwarded.end(body);
  }

  /** Connects a WebSocket's client with the owner. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    this.#open += 1;
    const owner = connect(this.#options.socketPath);
    const end = () => {
      owner.destroy();
      socket.destroy();
    };
    socket.once("close", () => {
      this.#open -= 1;
      end();
    });
    // A half-open connection on either side would keep both.
    socket.on("error", end).once("end", end);
    owner.on("error", end).once("close", () => socket.destroySoon());
    owner.once("end", () => socket.destroySoon());
    const lines = `${request.method} ${request.url} HTTP/1.1\r\n${toLines(this.#upgradeHeadersOf(request))}\r\n`;
    owner.write(Buffer.concat([Buffer.from(lines, "latin1"), head]));
    owner.pipe(socket);
    // An owner that refuses closes at once: a write that fails before its answer is read would discard the answer.
    owner.once("data", () => socket.pipe(owner));
  }

  close(): void {
    this.#agent.destroy();
  }

  #headersOf(request: IncomingMessage, body: Buffer | undefined): string[] {
    const isKept = (name: string) => !CONNECTION_HEADERS.has(name) && (body === undefined || !BODY_HEADERS.has(name));
    const headers = [...this.#proof(request), ...keep(request.rawHeaders, isKept), "connection", "keep-alive"];
    // HTTP/1.1 requires a host. Checks of load balancers are often of HTTP/1.0, which does not.
    if (request.httpVersion === "1.0" && request.headers.host === undefined) headers.push("host", "");
    if (body !== undefined) return [...headers, "content-length", String(body.length)];
    return request.headers["transfer-encoding"] === undefined ? headers : [...headers, "transfer-encoding", "chunked"];
  }

  #upgradeHeadersOf(request: IncomingMessage): string[] {
    return [...this.#proof(request), ...keep(request.rawHeaders, () => true)];
  }

  /** Stands before the client's headers: some versions of Node.js ignore those after the first thousand. */
  #proof({ socket }: IncomingMessage): string[] {
    return [FORWARDED_HEADER, `${this.#options.secret} ${socket.remoteAddress ?? ""}`];
  }
}

/**
 * Whether the headers say that a body follows. The owner would take one that they do not announce for the next request on
 * its connection: some versions of Node.js read a body by headers that they hide, those after the first thousand.
 */
function isBodyAnnounced({ headers }: IncomingMessage): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}

/** Keeps names and values as they were written, in their order. Clients cannot send the proof themselves. */
function keep(raw: readonly string[], isKept: (name: string) => boolean): string[] {
  const lines: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const [name = "", value = ""] = [raw[index], raw[index + 1]];
    const lower = name.toLowerCase();
    if (lower !== FORWARDED_HEADER && isKept(lower)) lines.push(name, value);
  }
  return lines;
}

function toLines(headers: readonly string[]): string {
  let lines = "";
  for (let index = 0; index < headers.length; index += 2) lines += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return lines;
}

function sendBack(answer: IncomingMessage, response: ServerResponse): void {
  const headers = keep(answer.rawHeaders, (name) => !CONNECTION_HEADERS.has(name));
  if (answer.headers.connection === "close") headers.push("connection", "close");
  response.sendDate = false;
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers);
  // An event stream may be silent after its headers.
  response.flushHeaders();
  // The owner broke the answer off, so that the client must not take it for complete.
  answer.once("close", () => {
    if (!answer.complete) response.destroy();
  });
  answer.pipe(response);
}

function restarting() {
  return unavailable("The service is restarting. Try again in a moment.", "server_is_overloaded", 1);
}
