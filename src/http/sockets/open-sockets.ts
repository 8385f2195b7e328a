/** WebSockets of one kind in this process: their number per project, and their end when the service stops. */

import { Fault, unavailable } from "../../kernel/faults.ts";
import { Poll } from "../../kernel/jobs/poll.ts";

export interface OpenSocket {
  project: string;
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

export class OpenSockets {
  readonly #limit: SocketLimit;
  readonly #open = new Set<OpenSocket>();
  #draining: Poll | undefined;

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
    return () => void this.#open.delete(socket);
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
}

function stopping(): Fault {
  return unavailable("The service is stopping. Connect again in a moment.", "server_is_overloaded", 5);
}
