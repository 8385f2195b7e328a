import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyReply } from "fastify";

/** Streams bytes. A failure mid-answer closes the connection, which shows the client that the answer is incomplete. */
export function sendBytes(reply: FastifyReply, contentType: string, bytes: AsyncIterable<Uint8Array>): FastifyReply {
  const { request } = reply;
  async function* untilFailure() {
    try {
      for await (const chunk of bytes) {
        yield chunk;
        // A client that reads fast would keep the event loop until the end.
        await nextTurn();
      }
    } catch (failure) {
      request.reportFailure(failure);
      throw failure;
    }
  }
  return reply
    .header("content-type", contentType)
    .header("x-accel-buffering", "no")
    .send(Readable.from(untilFailure(), { objectMode: false, highWaterMark: 65_536 }));
}
