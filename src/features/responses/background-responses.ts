/** Background responses of this process. */

import { setTimeout as pause } from "node:timers/promises";
import { resultWithin } from "../../kernel/async/timeout.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import { BackgroundRun, type BackgroundRunOptions } from "./background-run.ts";
import type { StreamEvent } from "./event-log.ts";
import type { FoundResponse } from "./response-store.ts";

type Shared = Pick<BackgroundRunOptions, "responses" | "events" | "logger">;

/** How often the events of another replica's run are read. */
const POLL_MS = 300;
const CLOSE_MS = 5_000;

export class BackgroundResponses {
  readonly #shared: Shared;
  readonly #runs = new Map<string, BackgroundRun>();
  readonly #ends = new Set<Promise<void>>();

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  get runningCount(): number {
    return this.#runs.size;
  }

  /** Runs a response that was stored as queued. Resolves at its end, also when it fails; never rejects. */
  start(options: Omit<BackgroundRunOptions, keyof Shared>, events: AsyncIterable<StreamEvent>): Promise<void> {
    const { id } = options.queued;
    const run = new BackgroundRun({ ...this.#shared, ...options });
    this.#runs.set(id, run);
    const ended = run.run(events).finally(() => {
      this.#runs.delete(id);
      this.#ends.delete(ended);
    });
    this.#ends.add(ended);
    return ended;
  }

  /** Cancels a response, of this replica or another one. Throws a Fault. */
  async cancel(resource: ProjectResource): Promise<FoundResponse> {
    const cancelled = await this.#shared.responses.cancel(resource);
    this.#runs.get(resource.id)?.stop();
    return cancelled;
  }

  /** Deletes a response, and stops it if it still runs. Throws a Fault. */
  async delete(resource: ProjectResource): Promise<void> {
    await this.#shared.responses.delete(resource);
    this.#runs.get(resource.id)?.stop();
  }

  /**
   * Yields the events of an existing response from the sequence number `from`, until it ends or the signal aborts: a
   * generator that waits for an event does not notice its `return`.
   */
  async *follow(resource: ProjectResource, from: number, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const run = this.#runs.get(resource.id);
    if (run !== undefined) {
      yield* run.follow(from, signal);
      return;
    }
    const { responses, events } = this.#shared;
    for (let next = from; !signal.aborted; ) {
      // In this order: events written before the end are not missed.
      const { isRunning } = await responses.state(resource);
      for (const event of await events.read(resource, next)) {
        yield event;
        next = event.sequence_number + 1;
      }
      if (!isRunning) return;
      await pause(POLL_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Waits until the runs, which the caller has aborted, have stored their results. */
  async close(): Promise<void> {
    await resultWithin(Promise.all(this.#ends), CLOSE_MS);
  }
}
