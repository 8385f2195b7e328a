import { PassThrough, type Readable } from "node:stream";

const ROOM_BYTES = 1 << 20;

/**
 * Takes what the stream gives from now on. When the stream breaks, everything that had come is given first and the
 * failure thrown after it: a broken Readable by itself drops what nobody has read yet.
 */
export function keepWhatCame(from: Readable): AsyncIterable<Buffer> {
  const kept = new PassThrough({ highWaterMark: ROOM_BYTES });
  let failure: Error | undefined;
  from.on("error", (error) => {
    failure = error;
    kept.end();
  });
  from.pipe(kept);
  return (async function* () {
    yield* kept as AsyncIterable<Buffer>;
    if (failure !== undefined) throw failure;
  })();
}
