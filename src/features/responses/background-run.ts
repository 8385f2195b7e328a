/** Runs one response without its client's connection: writes its events as they come and its result at the end. */

import { retry } from "../../kernel/async/retry.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { EventLog, StreamEvent } from "./event-log.ts";
import type { NewResponse, ResponseEnvelope, ResponseStore } from "./response-store.ts";
import type { StoredItem } from "./stored-items.ts";

export interface BackgroundRunOptions {
  responses: ResponseStore;
  events: EventLog;
  logger: Logger;
  /** The response as it was stored when it was queued. */
  queued: NewResponse;
  /** Stops the inference. */
  abort: () => void;
  /** Renders the last event of a response that failed. */
  toFailedEvent: (failure: unknown) => StreamEvent;
}

const WRITE_MS = 250;
/** A run without events shows this often that it is alive. */
const HEARTBEAT_MS = 10_000;
const FINISH_ATTEMPTS = 5;
const FINISH_BACKOFF = { initial: 1_000, max: 4_000 };

export class BackgroundRun {
  readonly #options: BackgroundRunOptions;
  readonly #events: StreamEvent[] = [];
  #written = 0;
  #writtenAt = Date.now();
  #writing: Promise<void> = Promise.resolve();
  #status = "queued";
  #isStopped = false;
  #hasEnded = false;
  #wake = Promise.withResolvers<void>();

  constructor(options: BackgroundRunOptions) {
    this.#options = options;
  }

  /** Reads `events` to their end and stores the result; never rejects. */
  async run(events: AsyncIterable<StreamEvent>): Promise<void> {
    const writes = new Poll(() => this.#writeSoon(), { everyMs: WRITE_MS });
    try {
      for await (const event of events) this.#add(event);
    } catch (failure) {
      if (!this.#isStopped) this.#add(this.#options.toFailedEvent(failure));
    } finally {
      writes.stop();
      await this.#writing;
      if (!this.#isStopped) await this.#finish();
      this.#hasEnded = true;
      this.#notify();
    }
  }

  /** Stops the run, after which nothing more is written. */
  stop(): void {
    this.#isStopped = true;
    this.#options.abort();
  }

  /** Yields the events from the sequence number `from` until the run ends or the signal aborts. */
  async *follow(from: number, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    // A race with the signal for each event would keep all of them until the signal aborts.
    const leave = () => this.#notify();
    signal.addEventListener("abort", leave, { once: true });
    try {
      for (let next = from; !signal.aborted; ) {
        const wake = this.#wake.promise;
        for (; next < this.#events.length; next += 1) yield this.#events[next] as StreamEvent;
        if (this.#hasEnded || signal.aborted) return;
        await wake;
      }
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  #add(event: StreamEvent): void {
    this.#events.push(event);
    if (event.type === "response.in_progress") this.#status = "in_progress";
    this.#notify();
  }

  #notify(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  #writeSoon(): void {
    const isIdle = this.#written === this.#events.length && Date.now() - this.#writtenAt < HEARTBEAT_MS;
    if (isIdle || this.#isStopped) return;
    this.#writing = this.#writing.then(() => this.#write());
  }

  async #write(): Promise<void> {
    // The last event goes with the result, in one transaction.
    const end = this.#events.findLastIndex(({ type }) => ENDINGS.has(type));
    const events = this.#events.slice(this.#written, end === -1 ? undefined : end);
    try {
      const { events: log, queued } = this.#options;
      const isRunning = await log.append(queued, this.#status, events);
      this.#written += events.length;
      this.#writtenAt = Date.now();
      // Cancelled through another replica, or deleted.
      if (!isRunning) this.stop();
    } catch (error) {
      this.#options.logger.warn({ err: error }, "events of a background response not stored yet");
    }
  }

  async #finish(): Promise<void> {
    const { responses, logger, queued } = this.#options;
    const last = this.#events.at(-1);
    if (last === undefined || !ENDINGS.has(last.type)) return;
    const { output, ...envelope } = last.response as { output: StoredItem[] } & ResponseEnvelope;
    const isComplete = envelope.status !== "failed";
    const ended = { ...queued, envelope, output, ...(isComplete ? {} : { conversationId: undefined }) };
    const onRetry = (error: unknown) => logger.error({ err: error }, "background response not stored yet");
    const finish = () => responses.finish(ended, this.#events.slice(this.#written));
    await retry(finish, { attempts: FINISH_ATTEMPTS, backoff: FINISH_BACKOFF, onRetry }).catch(onRetry);
  }
}

const ENDINGS: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);
