/** Sessions of this process: their number per project, and their end when the service stops. */

import { Fault, unavailable } from "../../kernel/faults.ts";
import { Poll } from "../../kernel/jobs/poll.ts";

export interface OpenSession {
  project: string;
  /** Whether a response or transcription is running. */
  isBusy(): boolean;
  /** Ends the session with an error event that says why. */
  close(failure: Fault): void;
}

const DRAIN_CHECK_MS = 50;

export class RealtimeSessions {
  readonly #maxPerProject: number;
  readonly #open = new Set<OpenSession>();
  #draining: Poll | undefined;

  constructor(maxPerProject: number) {
    this.#maxPerProject = maxPerProject;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Counts a session until the returned function is called. Throws a Fault when its project has too many. */
  add(session: OpenSession): () => void {
    const others = [...this.#open].filter(({ project }) => project === session.project).length;
    if (others >= this.#maxPerProject) {
      const message = `This project has ${others} Realtime sessions, the limit (realtime.max_sessions_per_project). Close one of them.`;
      throw new Fault("request-rate-limited", message, { code: "too_many_sessions", retryAfterSeconds: 1 });
    }
    this.#open.add(session);
    return () => void this.#open.delete(session);
  }

  /** Ends each session as soon as nothing runs in it. */
  drain(): void {
    const closeIdle = () => {
      for (const session of [...this.#open].filter((each) => !each.isBusy())) session.close(stopping());
      if (this.#open.size === 0) this.#draining?.stop();
    };
    this.#draining ??= new Poll(closeIdle, { everyMs: DRAIN_CHECK_MS });
    closeIdle();
  }
}

function stopping(): Fault {
  return unavailable("The service is stopping. Connect again in a moment.", "server_is_overloaded", 5);
}
