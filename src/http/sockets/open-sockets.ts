/**
 * WebSockets of one kind in this process: their number per project, and their end when the service stops or when the key
 * no longer works.
 */

import { Fault, unavailable } from "../../kernel/faults.ts";
import { Poll } from "../../kernel/jobs/poll.ts";

export interface OpenSocket {
  project: string;
  /** Authenticates the key or session of its client again. Throws a Fault. */
  authenticate(): Promise<unknown>;
  /** Whether something runs for its client. */
  isBusy(): boolean;
  /** Ends the connection with an error event that says why. */
  close(failure: Fault): void;
}

export interface SocketLimit {
  maxPerProject: number;
  /** What there are too many of, such as `Realtime sessions`. */
  plural: string;
  /** Setting of the limit. */
  setting: string;
  code: string;
}

const DRAIN_CHECK_MS = 50;
/** A client that only sends silence, or nothing, starts nothing that would authenticate it. */
const AUTHENTICATE_MS = 5_000;

export class OpenSockets {
  readonly #limit: SocketLimit;
  readonly #open = new Set<OpenSocket>();
  #draining: Poll | undefined;
  #authenticating: Poll | undefined;

  constructor(limit: SocketLimit) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Counts a connection until the returned function is called. Throws a Fault when its project has too many. */
  add(socket: OpenSocket): () => void {
    const others = [...this.#open].filter(({ project }) => project === socket.project).length;
    const { maxPerProject, plural, setting, code } = this.#limit;
    if (others >= maxPerProject) {
      const message = `This project has ${others} ${plural}, the limit (${setting}). Close one of them.`;
      throw new Fault("request-rate-limited", message, { code, retryAfterSeconds: 1 });
    }
    this.#open.add(socket);
    this.#authenticating ??= new Poll(() => this.#authenticate(), { everyMs: AUTHENTICATE_MS });
    return () => {
      this.#open.delete(socket);
      if (this.#open.size > 0) return;
      this.#authenticating?.stop();
      this.#authenticating = undefined;
    };
  }

  /** Ends each connection as soon as nothing runs for its client. */
  drain(): void {
    const closeIdle = () => {
      for (const socket of [...this.#open].filter((each) => !each.isBusy())) socket.close(stopping());
      if (this.#open.size === 0) this.#draining?.stop();
    };
    this.#draining ??= new Poll(closeIdle, { everyMs: DRAIN_CHECK_MS });
    closeIdle();
  }

  async #authenticate(): Promise<void> {
    for (const socket of [...this.#open]) {
      try {
        await socket.authenticate();
      } catch (failure) {
        // Any other failure says nothing about the key: the database may be unavailable.
        if (failure instanceof Fault && REFUSALS.has(failure.kind)) socket.close(failure);
      }
    }
  }
}

const REFUSALS: ReadonlySet<Fault["kind"]> = new Set(["unauthenticated", "forbidden"]);

function stopping(): Fault {
  return unavailable("The service is stopping. Connect again in a moment.", "server_is_overloaded", 5);
}
