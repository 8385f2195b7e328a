/** Reads and writes a WebSocket within bounds: neither a client that sends fast nor one that reads slowly fills memory. */

import type { Readable } from "node:stream";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import type { WebSocket } from "@fastify/websocket";
import type { FastifyRequest } from "fastify";
import { projectOf } from "../../contracts/caller.ts";
import { until } from "../../kernel/async/retry.ts";
import { Fault } from "../../kernel/faults.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import { bodyMemoryOf } from "../body-memory.ts";

/** Messages that wait to be handled; the socket is not read beyond them. */
const MAX_WAITING_BYTES = 1024 ** 2;
const MAX_WAITING_MESSAGES = 200;
/** What a message occupies is counted in steps of this size. */
const COUNTED_STEP_BYTES = 256 * 1024;
/** Further messages wait. A client that sends pieces of 10 ms as they are recorded sends 100. */
const MAX_MESSAGES_PER_SECOND = 1000;
/** Other requests wait for at most one slice and one message. */
const SLICE_MS = 10;
/** Unread output above which no more is produced. */
const HIGH_WATER_BYTES = 1024 ** 2;
/** Unread output that disconnects the client at once. */
const MAX_UNREAD_BYTES = 16 * 1024 ** 2;
const DEFAULT_MAX_UNREAD_SECONDS = 30;
const FLUSH_CHECK_MS = 20;
/** Time in which a client has to answer the end of its connection. */
const CLOSE_MS = 2_000;
/** A client that answers no ping of this interval is gone. */
const PING_SECONDS = 30;

/** Close codes of RFC 6455, section 7.4.1. */
const CODES: Partial<Record<Fault["kind"], number>> = { unavailable: 1001, "request-rate-limited": 1013 };
const NORMAL = 1000;
const POLICY_VIOLATION = 1008;

/** Counts the bytes of a message that has not ended. */
export interface Arriving {
  /** The connection itself. */
  connection: Readable;
  /** Counts bytes in memory until the function that it returns releases them. Throws a Fault. */
  hold(bytes: number): () => void;
}

export function arrivingAt(request: FastifyRequest): Arriving {
  const bodyMemory = bodyMemoryOf(request);
  const project = projectOf(request.caller);
  return { connection: request.raw.socket, hold: (bytes) => bodyMemory.reserve(project, bytes) };
}

export interface ClientSocketOptions {
  socket: WebSocket;
  /** Handles one message at a time. */
  onMessage: (message: Buffer, isBinary: boolean) => Promise<void>;
  onClose: () => void;
  /** What the connection occupies while a message arrives. */
  arriving: Arriving;
  /** Seconds in which the client has to read what is above the high water mark. */
  maxUnreadSeconds?: number;
}

export class ClientSocket {
  readonly #options: ClientSocketOptions;
  readonly #waiting: { message: Buffer; isBinary: boolean }[] = [];
  #waitingBytes = 0;
  /** Of a message that has not ended, and what of them is counted. */
  #arrivingBytes = 0;
  #countedBytes = 0;
  #release = () => {};
  #isHandling = false;
  #isAlive = true;
  #second = 0;
  #handledInSecond = 0;
  /** Time of the last message, in milliseconds of `performance.now()`. */
  lastMessageAt = performance.now();

  constructor(options: ClientSocketOptions) {
    this.#options = options;
    const { socket, onClose, arriving } = options;
    arriving.connection.on("data", ({ length }: Buffer) => this.#count(length));
    socket.on("message", (data: Buffer, isBinary: boolean) => {
      this.#forgetArriving();
      // A client that ignores the end of its connection.
      if (socket.readyState !== socket.OPEN) return;
      this.lastMessageAt = performance.now();
      this.#waiting.push({ message: data, isBinary });
      this.#waitingBytes += data.length;
      if (this.#isFull()) socket.pause();
      void this.#handleAll();
    });
    socket.on("pong", () => {
      this.#isAlive = true;
    });
    const ping = new Poll(() => this.#ping(), { everyMs: PING_SECONDS * 1000 });
    socket.once("close", () => {
      ping.stop();
      this.#forgetArriving();
      this.#waiting.length = 0;
      onClose();
    });
  }

  send(message: string): void {
    const { socket } = this.#options;
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.terminate();
    else socket.send(message);
  }

  /** Resolves once the client has read most of what was sent; disconnects a client that does not. */
  async flushed(): Promise<void> {
    const { socket, maxUnreadSeconds = DEFAULT_MAX_UNREAD_SECONDS } = this.#options;
    const isRead = () => socket.readyState !== socket.OPEN || socket.bufferedAmount <= HIGH_WATER_BYTES;
    const wasRead = await until(isRead, { everyMs: FLUSH_CHECK_MS, timeoutMs: maxUnreadSeconds * 1000 });
    if (wasRead === undefined) socket.terminate();
  }

  /** Ends the connection as its client asked for it. */
  end(): void {
    this.#close(NORMAL);
  }

  close(failure: Fault): void {
    // A reason has at most 123 bytes.
    this.#close(CODES[failure.kind] ?? POLICY_VIOLATION, failure.code ?? failure.kind);
  }

  /** A client that does not answer loses its connection, and its place among those of its project, soon after. */
  #close(code: number, reason?: string): void {
    const { socket } = this.#options;
    socket.close(code, reason);
    setTimeout(() => socket.terminate(), CLOSE_MS).unref();
  }

  #count(length: number): void {
    this.#arrivingBytes += length;
    const { socket, arriving } = this.#options;
    if (this.#arrivingBytes - this.#countedBytes < COUNTED_STEP_BYTES || socket.readyState !== socket.OPEN) return;
    this.#release();
    this.#release = () => {};
    this.#countedBytes = this.#arrivingBytes;
    try {
      this.#release = arriving.hold(this.#arrivingBytes);
    } catch (failure) {
      if (!(failure instanceof Fault)) throw failure;
      this.close(failure);
      // What it sends until its connection ends is not read.
      socket.pause();
    }
  }

  #forgetArriving(): void {
    [this.#arrivingBytes, this.#countedBytes] = [0, 0];
    this.#release();
    this.#release = () => {};
  }

  async #handleAll(): Promise<void> {
    if (this.#isHandling) return;
    this.#isHandling = true;
    const { socket, onMessage } = this.#options;
    let sliceEnd = performance.now() + SLICE_MS;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#pace();
      if (performance.now() >= sliceEnd) {
        await nextTurn();
        sliceEnd = performance.now() + SLICE_MS;
      }
      // A large message is transferred to the thread that parses it, and has no length afterwards.
      const { length } = next.message;
      await onMessage(next.message, next.isBinary);
      this.#waitingBytes -= length;
      if (socket.isPaused && !this.#isFull()) socket.resume();
    }
    this.#isHandling = false;
  }

  async #pace(): Promise<void> {
    const now = performance.now();
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#handledInSecond = 0;
    }
    this.#handledInSecond += 1;
    if (this.#handledInSecond > MAX_MESSAGES_PER_SECOND) await delay(1000 * (second + 1) - now);
  }

  #isFull(): boolean {
    return this.#waitingBytes > MAX_WAITING_BYTES || this.#waiting.length > MAX_WAITING_MESSAGES;
  }

  #ping(): void {
    const { socket } = this.#options;
    // A paused socket does not read pongs.
    if (!this.#isAlive && !socket.isPaused) {
      socket.terminate();
      return;
    }
    this.#isAlive = false;
    socket.ping();
  }
}
