/** What responses occupy in memory, with real downloads from a server on loopback. */

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ChatEvent } from "../../contracts/chat-model.ts";
import { BodyMemory } from "../../http/body-memory.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import type { ServerEvent } from "../../wire/realtime/server-event.ts";
import { defaultSettings } from "../../wire/realtime/session-settings.ts";
import { ContentResolver } from "../files/content-resolver.ts";
import { Conversation } from "./conversation.ts";
import { ResponseRun } from "./response-run.ts";
import type { RealtimeServices, SessionContext } from "./session-context.ts";
import { SessionTools } from "./session-tools.ts";

const IMAGE_BYTES = 100_000;
const HELD = 2 * IMAGE_BYTES;
const guard = new OutgoingGuard({ reach: "private" });
const server = createServer((_request, response) => response.end(Buffer.alloc(IMAGE_BYTES)));
let url: string;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.png`;
});
afterAll(async () => {
  await guard.close();
  server.closeAllConnections();
  server.close();
});

/** Sessions of one project, whose model ends its first answer with `end`, and others at once. */
function open(memory: BodyMemory) {
  const models = { mayReadMedia: () => true };
  const files = {
    find: () => Promise.reject(new Error("no files")),
    read: () => Promise.reject(new Error("no files")),
  };
  const content = new ContentResolver({ inference: { models }, files, policy: "public", guard, maxBytes: 1_000_000 });
  const first = Promise.withResolvers<void>();
  let answers = 0;
  async function* answer(): AsyncGenerator<ChatEvent> {
    answers += 1;
    if (answers === 1) await first.promise;
    yield { type: "choice-end", choice: 0, reason: "stop" };
    yield { type: "finish", usage: { promptTokens: 1, completionTokens: 1 } } as ChatEvent;
  }
  const inference = {
    countEarly: async () => undefined,
    chat: async () => ({ events: answer(), rateLimitStatus: {} }),
  };
  const run = { watch: (onDisconnect: unknown) => onDisconnect, answered: () => {}, end: () => {} };
  const services = { inference, content, memory, beginRun: () => run, maxToolCalls: 0 };
  const respond = async (): Promise<{ status: string; failure: unknown }> => {
    const sent: ServerEvent[] = [];
    const context: SessionContext = {
      services: services as unknown as RealtimeServices,
      settings: () => ({ ...defaultSettings("realtime"), model: "sees", outputModality: "text" }),
      callerHeaders: {} as never,
      authenticate: async () => ({ kind: "project", organizationId: "org", projectId: "proj", keyId: "key" }),
      send: (event) => sent.push(event),
      flushed: async () => {},
      toError: (failure) => failure as Record<string, unknown>,
      signal: new AbortController().signal,
    };
    const image = { type: "input_image" as const, image_url: url, detail: "auto" };
    const message = { type: "message" as const, role: "user" as const, status: "completed" as const, content: [image] };
    await new ResponseRun({
      context,
      parameters: {},
      readItems: async () => [{ id: "item", object: "realtime.item", ...message }],
      tools: new SessionTools(context, new Conversation()),
      addItem: undefined,
      onSpoken: () => {},
    }).run();
    const { response } = sent.at(-1) as unknown as { response: { status: string; status_details: { error: unknown } } };
    return { status: response.status, failure: response.status_details?.error };
  };
  return { respond, end: first.resolve, answers: () => answers };
}

test("counts what a response downloads until its answer ends", async () => {
  const memory = new BodyMemory(10 * HELD);
  const { respond, end, answers } = open(memory);
  const response = respond();
  await expect.poll(answers).toBe(1);
  expect(memory.heldBytes).toBe(HELD);
  end();
  expect(await response).toMatchObject({ status: "completed" });
  expect(memory.heldBytes).toBe(0);
});

test("fails a response whose downloads find no room beside those of its project", async () => {
  const memory = new BodyMemory(3 * HELD);
  const { respond, end, answers } = open(memory);
  const first = respond();
  await expect.poll(answers).toBe(1);
  expect(await respond()).toMatchObject({ status: "failed", failure: { kind: "request-rate-limited" } });
  expect(memory.heldBytes).toBe(HELD);
  end();
  await first;
  expect(await respond()).toMatchObject({ status: "completed" });
});
