import type { FastifyReply } from "fastify";
import { toErrorFrame } from "../wire/openai/chat/chat-stream.ts";
import { toErrorBody } from "../wire/openai/error.ts";
import { FrameStream } from "./frame-stream.ts";

/** Renders the last frame of a stream that failed. */
export type ToErrorFrame = (failure: unknown) => string;

/** Streams events, server-sent by default. A failure mid-answer becomes an error frame, which ends the stream. */
export function sendEvents(
  reply: FastifyReply,
  frames: AsyncIterable<string | Uint8Array>,
  render?: ToErrorFrame,
  contentType = "text/event-stream; charset=utf-8",
): FastifyReply {
  const { request } = reply;
  const inOpenAIFormat: ToErrorFrame = (failure) => toErrorFrame(toErrorBody(failure, request.id));
  const toLastFrame: ToErrorFrame = (failure) => {
    request.reportFailure(failure);
    return (render ?? inOpenAIFormat)(failure);
  };
  return reply
    .header("content-type", contentType)
    .header("cache-control", "no-cache")
    .header("x-accel-buffering", "no")
    .send(new FrameStream(frames, toLastFrame));
}
