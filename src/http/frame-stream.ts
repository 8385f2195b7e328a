import { Readable, type Writable } from "node:stream";

/**
 * Writes the frames of an answer to its response, without the buffers of a readable stream: one write for each frame, and
 * the next is asked for once the response has room. It is a stream because Fastify watches and pipes one.
 */
export class FrameStream extends Readable {
  readonly #frames: AsyncIterator<string | Uint8Array>;
  readonly #toLastFrame: (failure: unknown) => string;
  #hasEnded = false;

  /** `toLastFrame` renders the end of frames that fail. */
  constructor(frames: AsyncIterable<string | Uint8Array>, toLastFrame: (failure: unknown) => string) {
    super();
    this.#frames = frames[Symbol.asyncIterator]();
    this.#toLastFrame = toLastFrame;
  }

  override _read(): void {}

  override pipe<Target extends NodeJS.WritableStream>(target: Target): Target {
    void this.#write(target as unknown as Writable);
    return target;
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // Runs the `finally` of the generators. They may wait for an event whose run the client's leaving aborts.
    if (!this.#hasEnded) void this.#frames.return?.()?.catch(() => {});
    done(error);
  }

  async #write(target: Writable): Promise<void> {
    try {
      for (;;) {
        const next = await this.#frames.next();
        this.#hasEnded = next.done === true;
        if (this.#hasEnded || this.destroyed || target.destroyed) break;
        if (!target.write(next.value)) await room(target);
      }
    } catch (failure) {
      this.#hasEnded = true;
      const last = this.#toLastFrame(failure);
      if (!this.destroyed && !target.destroyed) target.write(last);
    }
    // Fastify does not notice that a request of the service itself had closed before its answer began.
    if (target.destroyed) this.destroy();
    if (this.destroyed) return;
    target.end();
    this.push(null);
    this.resume();
  }
}

/** Resolves once the target takes more, or has closed. */
function room(target: Writable): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      target.off("drain", finish).off("close", finish);
      resolve();
    };
    if (target.destroyed) resolve();
    else target.on("drain", finish).on("close", finish);
  });
}
