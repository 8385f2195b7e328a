/**
 * Bounds the lines that the process of a server writes. Callers share the process, and each may ask for something too
 * large: only that request fails.
 */

import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/client";
import type { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

interface ReadBuffer {
  append(chunk: Buffer): void;
  readMessage(): JSONRPCMessage | null;
  clear(): void;
}

const NEWLINE = 10;
/** Of a line that is left out: enough for the fields before and after a result. */
const KEPT_BYTES = 512;
/** A line without an end keeps all answers behind it away: the process is broken. */
const MAX_LINE_BYTES = 2 ** 30;
const FAILED = -32000;

/** Call before the transport starts. `maxBytes`: of one message. */
export function boundLines(transport: StdioClientTransport, maxBytes: number): void {
  /** Requests that wait for an answer, the oldest first. */
  const running = new Set<RequestId>();
  const send = transport.send.bind(transport);
  transport.send = (message) => {
    if ("method" in message && "id" in message) running.add(message.id);
    if ("method" in message && message.method === "notifications/cancelled") {
      running.delete(message.params?.requestId as RequestId);
    }
    return send(message);
  };
  // The library has no other place for it: a transport that is not exactly its own loses the probe of the era.
  const owner = transport as unknown as { _readBuffer: ReadBuffer };
  owner._readBuffer = new BoundedLines(owner._readBuffer, {
    maxBytes,
    running,
    refuse: (id, error) => void transport.send({ jsonrpc: "2.0", id, error }).catch(() => {}),
  });
}

interface BoundedLinesOptions {
  maxBytes: number;
  running: Set<RequestId>;
  /** Answers a request of the server. */
  refuse(id: RequestId, error: { code: number; message: string }): void;
}

class BoundedLines implements ReadBuffer {
  /** Gets complete lines only. */
  readonly #messages: ReadBuffer;
  readonly #options: BoundedLinesOptions;
  /** The line so far. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Beginning and end of a line that is too long. */
  #leftOut: { head: Buffer; tail: Buffer } | undefined;
  readonly #failures: JSONRPCMessage[] = [];

  constructor(messages: ReadBuffer, options: BoundedLinesOptions) {
    this.#messages = messages;
    this.#options = options;
  }

  append(chunk: Buffer): void {
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(NEWLINE, from);
      const until = end < 0 ? chunk.length : end + 1;
      this.#add(chunk.subarray(from, until));
      if (end >= 0) this.#endLine();
      from = until;
    }
  }

  readMessage(): JSONRPCMessage | null {
    const message = this.#messages.readMessage() ?? this.#failures.shift() ?? null;
    if (message !== null && "id" in message && !("method" in message) && message.id !== undefined) {
      this.#options.running.delete(message.id);
    }
    return message;
  }

  clear(): void {
    this.#reset();
    this.#failures.length = 0;
    this.#messages.clear();
  }

  #add(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > MAX_LINE_BYTES) throw new Error(`The server wrote a line of more than ${MAX_LINE_BYTES} bytes.`);
    if (this.#leftOut === undefined && this.#bytes <= this.#options.maxBytes) {
      this.#pieces.push(piece);
      return;
    }
    const line = Buffer.concat([this.#leftOut?.tail ?? Buffer.concat(this.#pieces), piece]);
    const head = this.#leftOut?.head ?? Buffer.from(line.subarray(0, KEPT_BYTES));
    this.#leftOut = { head, tail: Buffer.from(line.subarray(-KEPT_BYTES)) };
    this.#pieces = [];
  }

  #endLine(): void {
    const leftOut = this.#leftOut;
    const line = leftOut === undefined ? Buffer.concat(this.#pieces) : undefined;
    this.#reset();
    if (line !== undefined) this.#messages.append(line);
    else if (leftOut !== undefined) this.#fail(leftOut.head.toString("latin1"), leftOut.tail.toString("latin1"));
  }

  #fail(head: string, tail: string): void {
    const { maxBytes, running, refuse } = this.#options;
    const bound = `${maxBytes.toLocaleString("en")} bytes, the limit for one message, which follows from max_result_size`;
    const error = { code: FAILED, message: `The server sent more than ${bound}.` };
    const { id: first, isServers } = readHead(head);
    const id = first ?? idAtEnd(tail);
    if (isServers) {
      if (id !== undefined) refuse(id, error);
      return;
    }
    const failed = id === undefined ? [...running][0] : [...running].find((each) => String(each) === String(id));
    if (failed !== undefined) this.#failures.push({ jsonrpc: "2.0", id: failed, error });
  }

  #reset(): void {
    this.#pieces = [];
    this.#bytes = 0;
    this.#leftOut = undefined;
  }
}

const FIELD = /\s*"(jsonrpc|id)"\s*:\s*("[^"\\]{0,200}"|\d{1,16})\s*,/y;
const SERVERS = /\s*"(method|params)"/y;

/** Reads the fields before the large one. `isServers`: a request or notification of the server. */
function readHead(head: string): { id: RequestId | undefined; isServers: boolean } {
  let id: RequestId | undefined;
  let at = head.indexOf("{") + 1;
  for (;;) {
    FIELD.lastIndex = at;
    const field = FIELD.exec(head);
    if (field === null) break;
    if (field[1] === "id") id = JSON.parse(field[2] ?? "null") as RequestId;
    at = FIELD.lastIndex;
  }
  SERVERS.lastIndex = at;
  return { id, isServers: SERVERS.test(head) };
}

/** An ID before the only bracket at the end is that of the message, rather than of something in it. */
function idAtEnd(tail: string): RequestId | undefined {
  const [, id] =
    /[,{]\s*"id"\s*:\s*("[^"\\]{0,200}"|\d{1,16})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail) ?? [];
  return id === undefined ? undefined : (JSON.parse(id) as RequestId);
}
