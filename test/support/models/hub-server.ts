/** A hub on the loopback that answers as Hugging Face does: resolve paths, a redirect to a second host, ranges, ETags, gates. */

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface HubFile {
  /** Content that the second host sends. */
  content: Buffer;
  /** Hash that the hub's host reports; undefined: none. */
  linkedSha256?: string | undefined;
  /** Required token. */
  gatedFor?: string;
}

export interface SeenRequest {
  host: "hub" | "bytes";
  path: string;
  authorization: string | undefined;
  range: string | undefined;
  ifRange: string | undefined;
}

export class HubServer implements AsyncDisposable {
  /** Like `http://127.0.0.1:40001`. */
  endpoint = "";
  readonly seen: SeenRequest[] = [];
  /** Bytes after which the next answers of the second host are cut off, one value per answer. */
  readonly cuts: number[] = [];
  /** Statuses of the hub's next answers, instead of the redirect. */
  readonly statuses: number[] = [];
  /** True: accepts connections and never answers. */
  isSilent = false;
  /** Resolved by a test that holds the second host's answers back after their first bytes. */
  hold: Promise<void> | undefined;
  etagVersion = 1;
  readonly #files = new Map<string, HubFile>();
  readonly #hub = createServer((request, response) => this.#resolve(request, response));
  readonly #bytes = createServer((request, response) => void this.#send(request, response));
  #bytesOrigin = "";

  static async start(): Promise<HubServer> {
    const server = new HubServer();
    server.endpoint = await listen(server.#hub);
    // Another name for the loopback address, which makes it another host.
    server.#bytesOrigin = (await listen(server.#bytes)).replace("127.0.0.1", "localhost");
    return server;
  }

  /** `path` is `owner/repo/resolve/revision/file`. The stated hash is the content's, unless another is given. */
  add(path: string, content: Buffer, options: Partial<HubFile> = {}): string {
    const sha256 = createHash("sha256").update(content).digest("hex");
    this.#files.set(`/${path}`, { content, linkedSha256: sha256, ...options });
    return sha256;
  }

  requestsTo(host: SeenRequest["host"]): SeenRequest[] {
    return this.seen.filter((each) => each.host === host);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [this.#hub, this.#bytes]) {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    }
  }

  #resolve(request: IncomingMessage, response: ServerResponse): void {
    this.#note("hub", request);
    if (this.isSilent) return;
    const status = this.statuses.shift();
    if (status !== undefined) {
      response.writeHead(status).end("busy");
      return;
    }
    const path = decodeURI(request.url ?? "");
    const file = this.#files.get(path);
    if (file === undefined) {
      response.writeHead(404, { "x-error-code": "EntryNotFound" }).end("Entry not found");
      return;
    }
    const token = request.headers.authorization?.replace("Bearer ", "");
    if (file.gatedFor !== undefined && token !== file.gatedFor) {
      response.writeHead(token === undefined ? 401 : 403, { "x-error-code": "GatedRepo" }).end("Access is restricted");
      return;
    }
    response
      .writeHead(302, {
        location: `${this.#bytesOrigin}${path}?signature=abc`,
        "x-linked-size": file.content.length,
        ...(file.linkedSha256 !== undefined && { "x-linked-etag": `"${file.linkedSha256}"` }),
        "x-repo-commit": "0123456789abcdef0123456789abcdef01234567",
      })
      .end("Found. Redirecting");
  }

  async #send(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#note("bytes", request);
    const { content } = this.#files.get(decodeURI(new URL(request.url ?? "", this.#bytesOrigin).pathname)) as HubFile;
    const etag = `"bytes-${this.etagVersion}"`;
    const isSame = request.headers["if-range"] === undefined || request.headers["if-range"] === etag;
    const start = isSame ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0) : 0;
    if (start >= content.length && start > 0) {
      response.writeHead(416, { "content-range": `bytes */${content.length}` }).end();
      return;
    }
    const body = content.subarray(start);
    const range = { "content-range": `bytes ${start}-${content.length - 1}/${content.length}` };
    response.writeHead(start > 0 ? 206 : 200, { etag, "content-length": body.length, ...(start > 0 && range) });
    const cut = this.cuts.shift();
    if (cut !== undefined) {
      response.write(body.subarray(0, cut), () => response.destroy());
      return;
    }
    if (this.hold !== undefined) {
      response.write(body.subarray(0, 1));
      await this.hold;
      response.end(body.subarray(1));
      return;
    }
    response.end(body);
  }

  #note(host: SeenRequest["host"], { url = "", headers }: IncomingMessage): void {
    const { authorization, range } = headers;
    this.seen.push({ host, path: url, authorization, range, ifRange: headers["if-range"]?.toString() });
  }
}

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
