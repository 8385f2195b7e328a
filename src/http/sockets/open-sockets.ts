/**
 * WebSockets of one kind in this process: their number per project, and their end when the service stops or when the key
 * no longer works.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { Fault, unavailable } from "../../kernel/faults.ts";
import { Poll } from "../../kernel/jobs/poll.ts";

export interface OpenSocket {
  project: string;
  /** Throws a Fault once the key or session of its client has ended. Asks nobody but the cache of keys. */
  checkStanding(): Promise<void>;
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
const CHECK_MS = 5_000;
/** Sockets that are checked in one turn of the event loop. */
const CHECKED_AT_ONCE = 50;

export class OpenSockets {
  readonly #limit: SocketLimit;
  readonly #open = new Set<OpenSocket>();
  /** Those whose check has not ended. */
  readonly #checked = new Set<OpenSocket>();
  #draining: Poll | undefined;
  #checking: Poll | undefined;

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
    this.#checking ??= new Poll(() => this.#checkAll(), { everyMs: CHECK_MS });
    return () => {
      this.#open.delete(socket);
      if (this.#open.size > 0) return;
      this.#checking?.stop();
      this.#checking = undefined;
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

  /** One socket that waits, such as for the database, delays no other. */
  async #checkAll(): Promise<void> {
    for (const [index, socket] of [...this.#open].entries()) {
      if (index % CHECKED_AT_ONCE === CHECKED_AT_ONCE - 1) await nextTurn();
      if (this.#checked.has(socket)) continue;
      this.#checked.add(socket);
      void check(socket).finally(() => this.#checked.delete(socket));
    }
  }
}

async function check(socket: OpenSocket): Promise<void> {
  try {
    await socket.checkStanding();
  } catch (failure) {
    // Any other failure says nothing about the key: the database may be unavailable.
    if (failure instanceof Fault && REFUSALS.has(failure.kind)) socket.close(failure);
  }
}

const REFUSALS: ReadonlySet<Fault["kind"]> = new Set(["unauthenticated", "forbidden"]);

function stopping(): Fault {
  return unavailable("The service is stopping. Connect again in a moment.", "server_is_overloaded", 5);
}
