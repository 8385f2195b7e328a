/** An upstream on loopback that fails in a known way: the fault is the first part of its path. */

import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";

export const UPSTREAM_KEY = "sk-upstream-0123456789abcdef";
export const UPSTREAM_MODEL = "upstream/own-name";

interface Asked {
  stream: boolean;
  /** True if the request expects raw samples. */
  speech: boolean;
}

type Fault = (socket: Socket, asked: Asked) => void;

const CONTENT = [..."abcdefgh"];
const envelope = { id: "chatcmpl-faulty", created: 1700000000, model: UPSTREAM_MODEL };
const chunkOf = (delta: object, finish: string | null = null, more: object = {}) =>
  frame({
    ...envelope,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  });
const frame = (data: unknown) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const textFrames = CONTENT.map((content) => chunkOf({ content }));
const usage = { prompt_tokens: 5, completion_tokens: 8, total_tokens: 13 };
const usageFrame = frame({ ...envelope, object: "chat.completion.chunk", choices: [], usage });
const wholeStream = [...textFrames, chunkOf({}, "stop"), usageFrame, frame("[DONE]")].join("");
const message = { role: "assistant", content: CONTENT.join("") };
const completion = {
  ...envelope,
  object: "chat.completion",
  choices: [{ index: 0, message, finish_reason: "stop" }],
  usage,
};

function head(status: string, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`;
}

/** One part of a chunked body. */
function part(data: string | Buffer): Buffer {
  const bytes = Buffer.from(data);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}
const LAST_PART = "0\r\n\r\n";

function send(
  socket: Socket,
  status: string,
  type: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  const bytes = Buffer.from(body);
  socket.write(head(status, { "content-type": type, "content-length": String(bytes.length), ...headers }));
  socket.write(bytes);
}

function begin(socket: Socket, asked: Asked, headers: Record<string, string> = {}): void {
  const unstreamed = asked.speech ? "application/octet-stream" : "application/json";
  const type = asked.stream ? "text/event-stream" : unstreamed;
  socket.write(head("200 OK", { "content-type": type, "transfer-encoding": "chunked", ...headers }));
}

const sendError =
  (status: string, error: object, headers?: Record<string, string>): Fault =>
  (socket) =>
    send(socket, status, "application/json", JSON.stringify({ error }), headers);

const secretsInside = `key ${UPSTREAM_KEY} for ${UPSTREAM_MODEL}`;

const FAULTS = {
  none: (socket, asked) => {
    begin(socket, asked);
    socket.write(part(asked.stream ? wholeStream : JSON.stringify(completion)));
    socket.write(LAST_PART);
  },
  "never-answers": () => {},
  "headers-then-hangs": (socket, asked) => begin(socket, asked),
  "hangs-midway": (socket, asked) => {
    begin(socket, asked);
    socket.write(part(asked.stream ? textFrames.slice(0, 3).join("") : JSON.stringify(completion).slice(0, 40)));
  },
  drips: (socket, asked) => {
    begin(socket, asked);
    const bytes = Buffer.from(asked.stream ? wholeStream : JSON.stringify(completion));
    let sent = 0;
    const timer = setInterval(() => {
      // The empty chunk is the last one; another would break the next answer on this connection.
      if (sent === bytes.length) clearInterval(timer);
      socket.write(part(bytes.subarray(sent, ++sent)));
    }, 10);
    socket.on("close", () => clearInterval(timer));
  },
  "resets-mid-chunk": (socket, asked) => {
    begin(socket, asked);
    socket.write(part(textFrames.slice(0, 3).join("")));
    socket.write('ffff\r\ndata: {"id":"chat', () => setTimeout(() => socket.resetAndDestroy(), 20));
  },
  "resets-at-once": (socket) => socket.resetAndDestroy(),
  "ends-early": (socket, asked) => {
    begin(socket, asked);
    socket.end(
      Buffer.concat([part(asked.stream ? textFrames.join("") : '{"id":"x","choices":['), Buffer.from(LAST_PART)]),
    );
  },
  "done-without-finish": (socket, asked) => {
    begin(socket, asked);
    socket.end(Buffer.concat([part([...textFrames, frame("[DONE]")].join("")), Buffer.from(LAST_PART)]));
  },
  "malformed-json": (socket, asked) => {
    begin(socket, asked);
    const broken = `${textFrames[0]?.slice(0, -5)}\n\n`;
    socket.end(Buffer.concat([part(asked.stream ? textFrames[0] + broken : '{"choices": [}'), Buffer.from(LAST_PART)]));
  },
  "html-page": (socket) => send(socket, "200 OK", "text/html", "<html><body>Welcome to nginx!</body></html>"),
  "html-error": (socket) => send(socket, "502 Bad Gateway", "text/html", `<html>${secretsInside}</html>`),
  "error-with-200": sendError("200 OK", { message: `overloaded, ${secretsInside}`, type: "server_error", code: 503 }),
  "error-frame-first": (socket, asked) => {
    begin(socket, asked);
    socket.end(Buffer.concat([part(frame({ error: { message: secretsInside, code: 500 } })), Buffer.from(LAST_PART)]));
  },
  "error-frame-midway": (socket, asked) => {
    begin(socket, asked);
    const error = { message: `out of memory, ${secretsInside}`, code: "server_error" };
    const frames = [...textFrames.slice(0, 3), chunkOf({ content: "" }, "error", { error })];
    socket.end(Buffer.concat([part(frames.join("")), Buffer.from(LAST_PART)]));
  },
  gzip: (socket, asked) => {
    const body = gzipSync(asked.stream ? wholeStream : JSON.stringify(completion));
    begin(socket, asked, { "content-encoding": "gzip" });
    for (let at = 0; at < body.length; at += 50) socket.write(part(body.subarray(at, at + 50)));
    socket.write(LAST_PART);
  },
  "broken-gzip": (socket, asked) => {
    begin(socket, asked, { "content-encoding": "gzip" });
    socket.end(Buffer.concat([part(gzipSync(wholeStream).subarray(0, 60)), Buffer.from(LAST_PART)]));
  },
  "huge-body": (socket, asked) => {
    begin(socket, asked);
    socket.write(part(asked.stream ? 'data: {"x":"' : '{"x":"'));
    const block = part("x".repeat(64 * 1024));
    const pump = () => {
      while (!socket.destroyed && socket.write(block)) {}
    };
    socket.on("drain", pump);
    pump();
  },
  floods: (socket, asked) => {
    begin(socket, asked);
    const block = part(textFrames.join("").repeat(50));
    const pump = () => {
      while (!socket.destroyed && socket.write(block)) {}
    };
    socket.on("drain", pump);
    pump();
  },
  redirects: (socket) =>
    send(socket, "307 Temporary Redirect", "text/plain", "", { location: "http://127.0.0.1:1/v1" }),
  "rate-limited": sendError("429 Too Many Requests", { message: secretsInside, code: "rate_limit_exceeded" }),
  "rate-limited-for-7s": sendError("429 Too Many Requests", { message: "slow down" }, { "retry-after": "7" }),
  "refuses-key": sendError("401 Unauthorized", {
    message: `Incorrect API key: ${UPSTREAM_KEY}`,
    code: "invalid_api_key",
  }),
  "refuses-request": sendError("400 Bad Request", {
    message: `${UPSTREAM_MODEL} cannot do that, says http://127.0.0.1 with ${UPSTREAM_KEY}`,
    param: "temperature",
    code: 40012,
  }),
  "knows-no-model": sendError("404 Not Found", {
    message: `The model \`${UPSTREAM_MODEL}\` does not exist.`,
    param: "model",
  }),
  "knows-no-path": (socket) => send(socket, "404 Not Found", "application/json", '{"detail":"Not Found"}'),
  "says-408": sendError("408 Request Timeout", { message: "too slow" }),
  fails: sendError("500 Internal Server Error", { message: `Traceback: ${secretsInside}` }),
  "hangs-in-error": (socket) => socket.write(`${head("500 Oops", { "content-length": "900" })}{"err`),
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;

/** One request, named by the `user` in its body. */
interface Seen {
  fault: FaultName;
  headers: string;
  body: string;
  /** `performance.now()` when its connection closed; undefined while it is open. */
  closedAt: number | undefined;
}

export interface FaultyUpstream {
  port: number;
  baseUrlFor(fault: FaultName): string;
  /** URL whose fault can be changed with `switchTo`. */
  switchableUrl: string;
  switchTo(fault: FaultName): void;
  /** A server that accepts connections and never answers, so a TLS handshake does not end. */
  silentTlsUrl: string;
  /** URL of a port without a listener. */
  refusingUrl: string;
  /** Number of open connections. */
  openSockets(): number;
  /** Completely received requests, by fault. */
  requests: Map<FaultName, number>;
  /** Requests that named a `user`, by that; the latest of each. */
  seen: Map<string, Seen>;
  /** True if a connection buffers bytes that its peer does not read. */
  isHeldBack(): boolean;
  /** Closes every connection, as a restart does. */
  closeIdle(): void;
  close(): Promise<void>;
}

export async function startFaultyUpstream(): Promise<FaultyUpstream> {
  const sockets = new Set<Socket>();
  const requests = new Map<FaultName, number>();
  const seen = new Map<string, Seen>();
  let switched: FaultName = "none";
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.setMaxListeners(0);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    let received = "";
    socket.on("data", (data) => {
      received += data.toString("latin1");
      const incoming = takeRequest(received);
      if (incoming === undefined) return;
      received = received.slice(incoming.length);
      const [, named] = incoming.path.split("/");
      const fault = named === "switchable" ? switched : (named as FaultName);
      const [, user] = /"user":"([^"]+)"/.exec(incoming.body) ?? [];
      if (user !== undefined) {
        const record: Seen = { fault, headers: incoming.head, body: incoming.body, closedAt: undefined };
        seen.set(user, record);
        socket.once("close", () => {
          record.closedAt = performance.now();
        });
      }
      requests.set(fault, (requests.get(fault) ?? 0) + 1);
      const speech = incoming.path.endsWith("/audio/speech");
      FAULTS[fault](socket, { stream: incoming.body.includes('"stream":true'), speech });
    });
  });
  server.listen(0, "127.0.0.1");
  const refusing = createServer().listen(0, "127.0.0.1");
  await Promise.all([once(server, "listening"), once(refusing, "listening")]);
  const { port } = server.address() as AddressInfo;
  const refusingPort = (refusing.address() as AddressInfo).port;
  refusing.close();
  return {
    port,
    baseUrlFor: (fault) => `http://127.0.0.1:${port}/${fault}/v1`,
    switchableUrl: `http://127.0.0.1:${port}/switchable/v1`,
    switchTo(fault) {
      switched = fault;
    },
    silentTlsUrl: `https://127.0.0.1:${port}/never-answers/v1`,
    refusingUrl: `http://127.0.0.1:${refusingPort}/v1`,
    openSockets: () => sockets.size,
    requests,
    seen,
    isHeldBack: () => [...sockets].some((socket) => socket.writableNeedDrain && socket.bytesWritten > 0),
    closeIdle() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function takeRequest(received: string): { path: string; head: string; body: string; length: number } | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const bodyLength = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
  const length = headEnd + 4 + bodyLength;
  if (received.length < length) return undefined;
  const head = received.slice(0, headEnd);
  return { path: received.split(" ")[1] ?? "", head, body: received.slice(headEnd + 4, length), length };
}
