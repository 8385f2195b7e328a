import { PassThrough, type Readable } from "node:stream";

const ROOM_BYTES = 1 << 20;

/**
 * Reads the stream from now on. When the stream breaks, yields everything received before and then throws the
 * failure: a broken Readable by itself drops unread data.
 */
export function readUntilError(from: Readable): AsyncIterable<Buffer> {
  const buffered = new PassThrough({ highWaterMark: ROOM_BYTES });
  let failure: Error | undefined;
  from.on("error", (error) => {
    failure = error;
    buffered.end();
  });
  from.pipe(buffered);
  return (async function* () {
    yield* buffered as AsyncIterable<Buffer>;
    if (failure !== undefined) throw failure;
  })();
}
