/** Message Batches and Files through Anthropic's client: the same batches and files as those of OpenAI's. */

import Anthropic, { toFile } from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBatch, untilEnded } from "../support/service/batches.ts";
import { type Service, startService } from "../support/service/service.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

let upstream: Service;
let service: Service;
beforeAll(async () => {
  const parrot = `
builtin_models: false
models:
  - id: parrot
    task: chat
    price: { prompt: "0.001", completion: "0.01" }
    deployments: [{ engine: scripted, echo: true, replies: [{ match: slow, text: "${"word ".repeat(50)}", delay_ms_per_token: 200 }] }]
`;
  upstream = await startService({ config: parrot });
  service = await startService({
    config: `${parrot}
  - id: far
    task: chat
    deployments: [${deploymentAt(upstream, "parrot", { abilities: { messages: true } })}]
`,
  });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.stop();
});

const client = (apiKey = service.apiKey) => new Anthropic({ baseURL: service.origin, apiKey, maxRetries: 0 });
const ask = (custom_id: string, content: string, model = "parrot") => ({
  custom_id,
  params: { model, max_tokens: 100, messages: [{ role: "user" as const, content }] },
});

async function ended(id: string) {
  const { batches } = client().messages;
  await expect.poll(async () => (await batches.retrieve(id)).processing_status).toBe("ended");
  return batches.retrieve(id);
}

async function newProjectKey(): Promise<string> {
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${service.adminKey}` };
    return (await (await service.post(`/v1/organization/${path}`, body, { headers })).json()) as {
      id: string;
      api_key: { value: string };
    };
  };
  const { id } = await post("projects", { name: "Other" });
  return (await post(`projects/${id}/service_accounts`, { name: "Caller" })).api_key.value;
}

test.each(["parrot", "far"])("answers a batch of messages with %s", async (model) => {
  const { batches } = client().messages;
  const requests = [ask("one", "First", model), ask("two", "Second", model), ask("none", "Third", "nothing")];
  const created = await batches.create({ requests });
  expect(created).toMatchObject({
    type: "message_batch",
    processing_status: "in_progress",
    request_counts: { processing: 3, succeeded: 0 },
    results_url: null,
    ended_at: null,
  });
  expect(new Date(created.expires_at).getTime() - new Date(created.created_at).getTime()).toBe(86_400_000);
  const batch = await ended(created.id);
  expect(batch.request_counts).toEqual({ processing: 0, succeeded: 2, errored: 1, canceled: 0, expired: 0 });
  const results = new Map(
    (await Array.fromAsync(await batches.results(created.id))).map(({ custom_id, result }) => [custom_id, result]),
  );
  expect(results.get("one")).toMatchObject({
    type: "succeeded",
    message: { type: "message", model, content: [{ type: "text", text: "First" }], stop_reason: "end_turn" },
  });
  expect(results.get("two")).toMatchObject({ message: { content: [{ text: "Second" }] } });
  expect(results.get("none")).toMatchObject({
    type: "errored",
    error: { type: "error", error: { type: "not_found_error", message: expect.stringContaining("nothing") } },
  });
});

test("is the same batch for OpenAI's client, and lists only batches of messages", async () => {
  const openai = service.client();
  const chat = await untilEnded(
    openai,
    await createBatch(openai, [
      {
        custom_id: "a",
        method: "POST",
        url: "/v1/chat/completions",
        body: { model: "parrot", messages: [{ role: "user", content: "Hi" }] },
      },
    ]),
  );
  const { id } = await client().messages.batches.create({ requests: [ask("a", "Hi")] });
  await ended(id);
  expect(await openai.batches.retrieve(id)).toMatchObject({
    endpoint: "/v1/messages",
    status: "completed",
    request_counts: { total: 1, completed: 1, failed: 0 },
    usage: { output_tokens: 1 },
  });
  const other = await client().messages.batches.create({ requests: [ask("a", "Hi")] });
  const listed = await Array.fromAsync(client().messages.batches.list({ limit: 1 }));
  const ids = listed.map((batch) => batch.id);
  expect(ids.slice(0, 2)).toEqual([other.id, id]);
  expect(ids).not.toContain(chat.id);
  const { data } = await client().messages.batches.list({ before_id: id });
  expect(data.map((batch) => batch.id)).toEqual([other.id]);
  await expect(client().messages.batches.retrieve(chat.id)).rejects.toMatchObject({ status: 404 });
});

test("cancels a batch, counts what was not answered, and deletes it with its files", async () => {
  const { batches } = client().messages;
  const requests = Array.from({ length: 30 }, (_, index) => ask(`line-${index}`, "slow"));
  const { id } = await batches.create({ requests });
  await expect(batches.delete(id)).rejects.toMatchObject({ status: 409 });
  expect((await batches.cancel(id)).processing_status).toBe("canceling");
  const { request_counts: counts } = await ended(id);
  expect(counts).toMatchObject({ processing: 0, errored: 0, expired: 0 });
  expect(counts.canceled).toBeGreaterThan(0);
  expect(counts.canceled + counts.succeeded).toBe(30);
  expect(await batches.delete(id)).toEqual({ id, type: "message_batch_deleted" });
  await expect(batches.retrieve(id)).rejects.toMatchObject({ status: 404 });
  const files = await service.client().files.list();
  expect(files.data.filter(({ filename }) => filename.startsWith(id))).toEqual([]);
});

test("deletes the input that a batch was created with, and none that a client uploaded", async () => {
  const { batches } = client().messages;
  const openai = service.client();
  const { id } = await batches.create({ requests: [ask("a", "Hi")] });
  await ended(id);
  const { input_file_id: written } = await openai.batches.retrieve(id);
  await batches.delete(id);
  await expect(openai.files.retrieve(written)).rejects.toMatchObject({ status: 404 });

  const line = { custom_id: "a", method: "POST", url: "/v1/messages", body: ask("a", "Hi").params };
  const file = await toFile(Buffer.from(`${JSON.stringify(line)}\n`), "message-batch.jsonl");
  const uploaded = await openai.files.create({ file, purpose: "batch" });
  const wanted = { input_file_id: uploaded.id, endpoint: "/v1/messages", completion_window: "24h" } as never;
  const own = await untilEnded(openai, await openai.batches.create(wanted));
  await batches.delete(own.id);
  expect((await openai.files.retrieve(uploaded.id)).id).toBe(uploaded.id);
});

test("hides batches, results and files of other projects", async () => {
  const { id } = await client().messages.batches.create({ requests: [ask("a", "Secret")] });
  await ended(id);
  const file = await client().files.upload({ file: await toFile(Buffer.from("Secret"), "secret.txt") });
  const { messages, files } = client(await newProjectKey());
  const attempts = [
    () => messages.batches.retrieve(id),
    () => messages.batches.cancel(id),
    () => messages.batches.delete(id),
    () => messages.batches.results(id),
    () => files.retrieveMetadata(file.id),
    () => files.download(file.id),
    () => files.delete(file.id),
  ];
  for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ status: 404 });
  const response = await service.fetch(`/v1/messages/batches/${id}/results`, {
    headers: { authorization: `Bearer ${await newProjectKey()}` },
  });
  expect(response.status).toBe(404);
  expect((await messages.batches.list()).data).toEqual([]);
  expect((await files.list()).data).toEqual([]);
  expect((await files.list({ ids: [file.id] })).data).toEqual([]);
});

const one = ask("a", "Hi");
test.each([
  [[], "requests"],
  [[one, one], "requests[1].custom_id"],
  [[{ ...one, params: { ...one.params, stream: true } }], "requests[0].params.stream"],
  [[{ custom_id: "a".repeat(65), params: one.params }], "requests[0].custom_id"],
])("refuses the requests %j", async (requests, name) => {
  const creation = client().messages.batches.create({ requests: requests as never });
  await expect(creation).rejects.toMatchObject({ status: 400, message: expect.stringContaining(name) });
});

test("stores files once for both clients", async () => {
  const { files } = client();
  const stored = await files.upload({
    file: await toFile(Buffer.from("A note."), "note.txt"),
    expires_in_seconds: 7200,
  });
  expect(stored).toMatchObject({
    type: "file",
    filename: "note.txt",
    mime_type: "text/plain",
    size_bytes: 7,
    downloadable: true,
  });
  expect(new Date(stored.expires_at ?? "").getTime() - new Date(stored.created_at).getTime()).toBe(7_200_000);
  expect(await files.retrieveMetadata(stored.id)).toEqual(stored);
  expect(await (await files.download(stored.id)).text()).toBe("A note.");
  expect(await service.client().files.retrieve(stored.id)).toMatchObject({ object: "file", purpose: "user_data" });
  const other = await files.upload({ file: await toFile(Buffer.from("{}"), "other.json") });
  expect((await Array.fromAsync(files.list({ limit: 1 }))).map(({ id }) => id).slice(0, 2)).toEqual([
    other.id,
    stored.id,
  ]);
  expect((await files.list({ ids: [stored.id, "file-nothing"] })).data).toEqual([stored]);
  const content = [
    { type: "document" as const, source: { type: "file" as const, file_id: stored.id } },
    { type: "text" as const, text: "What does it say?" },
  ];
  const answer = await client().beta.messages.create({
    model: "parrot",
    max_tokens: 50,
    messages: [{ role: "user", content }],
  });
  expect(JSON.stringify(answer.content)).toContain("A note.");
  expect(await files.delete(stored.id)).toEqual({ id: stored.id, type: "file_deleted" });
  await expect(files.retrieveMetadata(stored.id)).rejects.toMatchObject({ status: 404, error: { type: "error" } });
});
