/** One HTTP request to an upstream: reads the answer at the reader's pace and ends at once on abort. */

import type { IncomingHttpHeaders } from "node:http";
import type { Transform } from "node:stream";
import type { Dispatcher } from "undici";
import { currentSpan } from "../../../observability/trace.ts";
import type { Connecting, Connections } from "./connections.ts";
import { createDecoder } from "./content-decoder.ts";

export interface ExchangeLimits {
  firstByteTimeoutSeconds: number;
  idleTimeoutSeconds: number;
  maxResponseBytes: number;
}

export interface ResponseHead {
  status: number;
  headers: IncomingHttpHeaders;
}

export class UpstreamTimeoutError extends Error {}
export class ResponseTooLongError extends Error {}
class ReleasedError extends Error {}

/** Buffered bytes above which reading from the upstream pauses. */
const MAX_BUFFERED_BYTES = 256 * 1024;
/** Maximum wait for the end of a complete answer, to reuse its connection. */
const LINGER_MS = 1000;
const STALE_CONNECTION_CODES = ["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"];

export class Exchange implements Dispatcher.DispatchHandler {
  readonly #connections: Connections;
  readonly #request: Dispatcher.DispatchOptions;
  readonly #limits: ExchangeLimits;
  /** Whether the signal has aborted, cached because reading the signal takes longer. */
  #isAborted: boolean;
  #connecting: Connecting = { socket: undefined };
  #controller: Dispatcher.DispatchController | undefined;
  #decoder: Transform | undefined;
  #head: ResponseHead | undefined;
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  #receivedBytes = 0;
  #isEnded = false;
  #isReleased = false;
  #hasRetried = false;
  #failure: Error | undefined;
  #timer: NodeJS.Timeout;
  #hasProgressed = false;
  #isShortened = false;
  #wake: (() => void) | undefined;

  /**
   * Sends the request at once, unless the signal has aborted. The signal should not outlive the request, because its
   * listener holds the exchange. Call `release` when done, also after a failure.
   */
  constructor(
    connections: Connections,
    request: Dispatcher.DispatchOptions,
    limits: ExchangeLimits,
    signal: AbortSignal,
  ) {
    this.#connections = connections;
    const span = currentSpan();
    this.#request =
      span === undefined ? request : { ...request, headers: { ...(request.headers as object), ...span.headers() } };
    this.#limits = limits;
    this.#isAborted = signal.aborted;
    this.#timer = setTimeout(this.#onTimeout, limits.firstByteTimeoutSeconds * 1000);
    // Never removed, because that would take as long again.
    signal.addEventListener("abort", this.#onAbort);
    if (!this.#isAborted) this.#send();
  }

  /** Status and headers; undefined once the signal has aborted. Throws what undici throws, or UpstreamTimeoutError. */
  async head(): Promise<ResponseHead | undefined> {
    while (!this.#isAborted) {
      if (this.#head !== undefined) return this.#head;
      if (this.#failure !== undefined) throw this.#failure;
      await this.#change();
    }
    return undefined;
  }

  /**
   * Reads the chunks received since the last call, at least one; undefined at the end and once the signal has aborted.
   * Throws what undici or zlib throws, UpstreamTimeoutError or ResponseTooLongError.
   */
  async read(): Promise<Buffer[] | undefined> {
    while (!this.#isAborted) {
      if (this.#chunks.length > 0) return this.#take();
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isEnded) return undefined;
      await this.#change();
    }
    return undefined;
  }

  /** Returns the remaining chunks of an answer that has ended; undefined for any other. */
  rest(): Buffer[] | undefined {
    return this.#isEnded && this.#failure === undefined && !this.#isAborted ? this.#take() : undefined;
  }

  /** Restarts the idle timeout: what was read is part of an answer. */
  progress(): void {
    if (this.#isShortened) return;
    if (this.#hasProgressed) {
      this.#timer.refresh();
      return;
    }
    this.#hasProgressed = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onTimeout, this.#limits.idleTimeoutSeconds * 1000);
  }

  /** Shortens the timeout for the rest of the answer. */
  shortenTimeout(seconds: number): void {
    this.#isShortened = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onTimeout, seconds * 1000);
  }

  /** Releases all resources. The connection closes unless the answer has ended, or `isComplete` and it ends soon. */
  release(isComplete = false): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    clearTimeout(this.#timer);
    this.#chunks = [];
    if (this.#isEnded || this.#failure !== undefined) return;
    if (isComplete && !this.#isAborted) {
      this.#controller?.resume();
      this.#timer = setTimeout(() => this.#close(), LINGER_MS);
      return;
    }
    this.#close();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isReleased || this.#isAborted) controller.abort(new ReleasedError());
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#decoder = createDecoder(headers["content-encoding"]);
    this.#decoder?.on("data", (chunk: Buffer) => this.#add(controller, chunk));
    this.#decoder?.on("end", () => this.#end());
    this.#decoder?.on("error", (error) => this.#fail(error));
    this.#decoder?.on("drain", () => {
      if (this.#bufferedBytes <= MAX_BUFFERED_BYTES) controller.resume();
    });
    this.#head = { status, headers };
    this.#wakeUp();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#decoder === undefined) this.#add(controller, chunk);
    else if (!this.#decoder.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#decoder !== undefined) this.#decoder.end();
    else this.#end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#mayRetry(error)) {
      this.#hasRetried = true;
      this.#send();
      return;
    }
    this.#decoder?.destroy();
    this.#failure ??= error;
    if (this.#isReleased) clearTimeout(this.#timer);
    this.#wakeUp();
  }

  #send(): void {
    // The first attempt's controller must not abort the second.
    this.#controller = undefined;
    this.#connecting = { socket: undefined };
    this.#connections.dispatch(this.#request, this, this.#connecting);
  }

  /** An upstream may close an idle connection just as the next request is sent on it. */
  #mayRetry(error: Error): boolean {
    const usedOpenConnection = this.#controller !== undefined && this.#connecting.socket === undefined;
    const isStale = STALE_CONNECTION_CODES.includes((error as NodeJS.ErrnoException).code ?? "");
    const isWanted = !this.#isReleased && !this.#isAborted && this.#failure === undefined;
    return usedOpenConnection && isStale && isWanted && this.#head === undefined && !this.#hasRetried;
  }

  #add(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isReleased || this.#failure !== undefined) return;
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.#limits.maxResponseBytes) {
      this.#fail(new ResponseTooLongError(`the answer is longer than ${this.#limits.maxResponseBytes} bytes`));
      return;
    }
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (this.#bufferedBytes > MAX_BUFFERED_BYTES) {
      controller.pause();
      this.#decoder?.pause();
    }
    this.#wakeUp();
  }

  #take(): Buffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    const wasFull = this.#bufferedBytes > MAX_BUFFERED_BYTES;
    this.#bufferedBytes = 0;
    if (wasFull) {
      this.#decoder?.resume();
      this.#controller?.resume();
    }
    return chunks;
  }

  #end(): void {
    this.#isEnded = true;
    if (this.#isReleased) clearTimeout(this.#timer);
    this.#wakeUp();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#close();
    this.#wakeUp();
  }

  #close(): void {
    this.#decoder?.destroy();
    if (this.#controller !== undefined) this.#controller.abort(new ReleasedError());
    // undici keeps waiting for a connection that is destroyed without an error.
    else this.#connecting.socket?.destroy(new ReleasedError());
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Resolves the promise only once, because further calls cost time in V8. */
  #wakeUp(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  readonly #onAbort = (): void => {
    this.#isAborted = true;
    if (this.#isReleased) return;
    this.#close();
    this.#wakeUp();
  };

  readonly #onTimeout = (): void => {
    if (this.#isEnded) return;
    if (this.#chunks.length > 0) {
      // The reader is slow, not the upstream.
      this.#timer.refresh();
      return;
    }
    const seconds = this.#hasProgressed ? this.#limits.idleTimeoutSeconds : this.#limits.firstByteTimeoutSeconds;
    this.#fail(new UpstreamTimeoutError(`nothing for ${seconds} seconds`));
  };
}
