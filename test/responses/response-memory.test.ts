/** What small requests bring into memory counts as long as their runs need it. */

import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bodyMemoryBytes } from "../../src/http/body-memory.ts";
import { type InProcessService, startService } from "../support/service/service.ts";
import { docx } from "../support/vector-stores/sample-documents.ts";

const MAX_BODY_BYTES = 1_000_000;
const config = `
models:
  - id: m
    task: chat
    deployments:
      - engine: scripted
        context_window: 1000000
        replies:
          - { match: sloth, text: Hm., delay_ms_before_first: 600000 }
          - { match: breaks, text: one two, fail_after_tokens: 1, fail_with: { kind: upstream-failed, message: Down. } }
        echo: true
server: { drain_seconds: 1, max_body_bytes: ${MAX_BODY_BYTES} }
`;
const TEXT = "word ".repeat(40_000);

let service: InProcessService;
let client: OpenAI;
beforeAll(async () => {
  service = await startService({ config });
  client = service.client({ maxRetries: 0 });
});
afterAll(() => service?.stop());

const held = () => service.bodyMemory.heldBytes;
const untilReleased = () => expect.poll(held).toBe(0);

const user = (...content: OpenAI.Responses.ResponseInputContent[]) => ({ role: "user" as const, content });
const say = (text: string) => user({ type: "input_text", text });

/** Uploads a text of 200,000 bytes and returns a message that names it. */
async function messageWithFile(text: string) {
  const file = await client.files.create({ file: await toFile(Buffer.from(TEXT), "words.txt"), purpose: "user_data" });
  return user({ type: "input_text", text }, { type: "input_file", file_id: file.id });
}

/** Creates a conversation with 200,000 bytes, or a response, and returns how a request continues it. */
const CONTEXTS = {
  conversation: async () => ({
    conversation: (await client.conversations.create({ items: [{ role: "user", content: TEXT }] })).id,
  }),
  previous_response_id: async () => ({
    previous_response_id: (await client.responses.create({ model: "m", input: TEXT })).id,
  }),
  item_reference: async () => {
    const { id } = await client.conversations.create({ items: [{ role: "user", content: TEXT }] });
    const { data } = await client.conversations.items.list(id);
    return { input: [{ type: "item_reference" as const, id: data[0]?.id ?? "" }, say("sloth")] };
  },
};

test.each(Object.entries(CONTEXTS))("counts what %s stands for until the answer", async (_field, create) => {
  const request = { model: "m", input: "sloth", ...(await create()) };
  await untilReleased();
  const leaving = new AbortController();
  const answering = client.responses.create(request, { signal: leaving.signal });
  await expect.poll(held).toBeGreaterThan(TEXT.length);
  leaving.abort();
  await expect(answering).rejects.toThrow("abort");
  await untilReleased();
});

test("counts what a stored prompt makes of its variables until the answer", async () => {
  const messages = [{ role: "user", content: "{{text}} ".repeat(100) }];
  const prompt = (await (await service.post("/v1/prompts", { name: "p", content: { messages } })).json()) as {
    id: string;
  };
  const leaving = new AbortController();
  const variables = { text: "word ".repeat(1_000) };
  const request = { model: "m", input: "sloth", prompt: { id: prompt.id, variables } };
  const answering = client.responses.create(request, { signal: leaving.signal });
  await expect.poll(held).toBeGreaterThan(500_000);
  leaving.abort();
  await expect(answering).rejects.toThrow("abort");
  await untilReleased();
});

test("refuses a small request whose context has no room in memory, and reads none", async () => {
  const { conversation } = await CONTEXTS.conversation();
  await untilReleased();
  const admin = new OpenAI({ baseURL: service.baseUrl, apiKey: null, adminAPIKey: service.adminKey }).admin;
  const { data } = await admin.organization.projects.list();
  const release = service.bodyMemory.reserve(data[0]?.id ?? "", bodyMemoryBytes(MAX_BODY_BYTES) / 2 - 100_000);
  const refused = { status: 429, code: "rate_limit_exceeded", message: expect.stringContaining("bytes") };
  await expect(client.responses.create({ model: "m", input: "Hi", conversation })).rejects.toMatchObject(refused);
  await expect(
    client.responses.create({ model: "m", input: "Hi", conversation, background: true }),
  ).rejects.toMatchObject(refused);
  await expect(client.responses.inputTokens.count({ model: "m", conversation })).rejects.toMatchObject(refused);
  release();
  expect((await client.responses.create({ model: "m", input: "Hi", conversation })).output_text).toBe("Hi");
  await untilReleased();
});

test.each(["cancel", "delete"] as const)("counts the file of a background response until its %s", async (end) => {
  const input = [await messageWithFile("sloth")];
  const { id } = await client.responses.create({ model: "m", input, background: true });
  expect(await client.responses.retrieve(id)).toMatchObject({ status: "queued" });
  // Its bytes, in base64.
  expect(held()).toBeGreaterThanOrEqual(2 * TEXT.length);
  await client.responses[end](id);
  await untilReleased();
});

test("counts the text of a document beside the document", async () => {
  const file_data = `data:application/octet-stream;base64,${docx(TEXT).toString("base64")}`;
  const input = [user({ type: "input_text", text: "sloth" }, { type: "input_file", filename: "a.docx", file_data })];
  const { id } = await client.responses.create({ model: "m", input, background: true });
  expect(held()).toBeGreaterThanOrEqual(file_data.length + TEXT.length);
  await client.responses.cancel(id);
  await untilReleased();
});

test.each(["Hello.", "breaks"])("counts nothing of a background response to %j that has ended", async (text) => {
  const input = [await messageWithFile(text)];
  const { id } = await client.responses.create({ model: "m", input, background: true });
  const status = text === "breaks" ? "failed" : "completed";
  await expect.poll(async () => (await client.responses.retrieve(id)).status).toBe(status);
  await untilReleased();
});

test("counts nothing of a background response that is refused", async () => {
  const input = [say(TEXT)];
  const refused = client.responses.create({ model: "nope", input, background: true });
  await expect(refused).rejects.toMatchObject({ status: 404 });
  await untilReleased();
});

test("counts nothing of a background response that the end of the service has stopped", async () => {
  const stopping = await startService({ config });
  const at = stopping.client({ maxRetries: 0 });
  const input = [say("sloth"), say(TEXT)];
  const { id } = await at.responses.create({ model: "m", input, background: true });
  expect(await at.responses.retrieve(id)).toMatchObject({ status: "queued" });
  expect(stopping.bodyMemory.heldBytes).toBeGreaterThan(TEXT.length);
  await stopping.stop();
  expect(stopping.bodyMemory.heldBytes).toBe(0);
});
