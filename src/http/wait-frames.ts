/** Sends frames in a stream while its request waits, which keeps clients and proxies from giving up. */

import { setTimeout as pause } from "node:timers/promises";
import type { WaitReason } from "../inference/adapters/task-adapter.ts";

/** Until then, a failure still gets its own status; upstreams that refuse a request take some seconds, too. */
const FIRST_AFTER_MS: Readonly<Record<WaitReason, number>> = {
  ...{ loading: 2_000, queued: 2_000 },
  ...{ answering: 10_000, forwarding: 10_000 },
};
const EVERY_MS = 5000;

export class WaitFrames<Answer> {
  readonly #long = Promise.withResolvers<"waiting">();
  readonly #toFrame: (reason: WaitReason) => string;
  #reason: WaitReason = "queued";
  #timer: NodeJS.Timeout | undefined;

  constructor(toFrame: (reason: WaitReason) => string) {
    this.#toFrame = toFrame;
  }

  /** Pass it to the inference: called when the request begins to wait, and without a reason when the wait ends. */
  readonly onWait = (reason: WaitReason | undefined): void => {
    clearTimeout(this.#timer);
    if (reason === undefined) return;
    this.#reason = reason;
    this.#timer = setTimeout(() => this.#long.resolve("waiting"), FIRST_AFTER_MS[reason]);
  };

  /** Resolves with the answer, or with undefined once a frame is due. */
  async answerOrWait(answering: Promise<Answer>): Promise<Answer | undefined> {
    const first = await Promise.race([answering, this.#long.promise]);
    return first === "waiting" ? undefined : (first as Answer);
  }

  /** Yields frames until there is an answer, then its frames. */
  async *until(
    answering: Promise<Answer>,
    toFrames: (answer: Answer) => AsyncIterable<string | Uint8Array>,
  ): AsyncGenerator<string | Uint8Array> {
    // The failure reaches the client through the race below, unless the client has left.
    answering.catch(() => {});
    for (;;) {
      yield this.#toFrame(this.#reason);
      const answer = await Promise.race([answering, pause(EVERY_MS, undefined, { ref: false })]);
      if (answer !== undefined) return yield* toFrames(answer as Answer);
    }
  }
}
