import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import { expect, test } from "vitest";
import { OpenStreams } from "./open-streams.ts";

function replyTo(projectId: string) {
  const raw = new ServerResponse(new IncomingMessage(new Socket()));
  return { raw, request: { caller: { organizationId: "org_a", projectId } } } as unknown as FastifyReply;
}

const closed = (reply: FastifyReply) => new Promise((resolve) => reply.raw.once("close", resolve).destroy());

test("counts the open streams of each project, and none of a client that had left before", async () => {
  const streams = new OpenStreams(2, "read pages instead");
  const left = replyTo("proj_a");
  await closed(left);
  for (let each = 0; each < 3; each += 1) streams.count(left);
  const first = replyTo("proj_a");
  streams.count(first);
  streams.count(replyTo("proj_a"));
  expect(() => streams.count(replyTo("proj_a"))).toThrow("2 such streams are open already");
  streams.count(replyTo("proj_b"));
  await closed(first);
  streams.count(replyTo("proj_a"));
  expect(() => streams.count(replyTo("proj_a"))).toThrow("read pages instead");
});
