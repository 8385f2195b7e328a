import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";

/** Streams bytes. A failure mid-answer closes the connection, which shows the client that the answer is incomplete. */
export function sendBytes(reply: FastifyReply, contentType: string, bytes: AsyncIterable<Uint8Array>): FastifyReply {
  const { request } = reply;
  async function* untilFailure() {
    try {
      yield* bytes;
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
