/** Paths on which a request could go around its guardrails: workers, batches, Realtime, files, the cache, other tasks. */

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type EchoUpstream, startEchoUpstream } from "../support/guardrails/echo-upstream.ts";
import { RealtimeClient } from "../support/service/realtime-client.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";
import { pdf } from "../support/vector-stores/sample-documents.ts";

const EMAIL = "ada.lovelace@example.com";

let upstream: EchoUpstream;
let service: ServiceProcess;
beforeAll(async () => {
  upstream = await startEchoUpstream();
  const deployment = deploymentAt(upstream, "echo");
  service = await startServiceProcess({
    config: `
builtin_models: false
server: { workers: 2 }
models:
  - { id: echo, task: chat, guardrails: [{ type: pii }], deployments: [${deployment}] }
  - { id: cached, task: chat, cache: {}, guardrails: [{ type: pii }], deployments: [${deployment}] }
  - { id: vectors, task: embedding, guardrails: [{ type: pii }], deployments: [${deployment}] }
  - { id: hears, task: transcription, deployments: [{ engine: scripted, replies: [{ text: "Hello." }] }] }
  - { id: speaks, task: speech, deployments: [{ engine: scripted, speech: {} }] }
`,
  });
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});
beforeEach(() => {
  upstream.received.splice(0);
});

// biome-ignore lint/suspicious/noExplicitAny: answers of several operations
type Any = any;

const ask = (content: unknown, model = "echo") =>
  service.post("/v1/chat/completions", { model, temperature: 0, messages: [{ role: "user", content }] });
const textOf = async (response: Response) => ((await response.json()) as Any).choices[0].message.content;

function expectMasked(): string {
  const sent = upstream.take();
  expect(sent).toContain("<EMAIL_ADDRESS_1>");
  expect(sent).not.toContain(EMAIL);
  return sent;
}

test("workers leave guarded requests to their owner", async () => {
  for (let count = 0; count < 6; count += 1) expect(await textOf(await ask(`Mail ${EMAIL}`))).toBe(`Mail ${EMAIL}`);
  expectMasked();
});

test("lines of a batch are guarded", async () => {
  const body = { model: "echo", messages: [{ role: "user", content: `Mail ${EMAIL}` }] };
  const line = JSON.stringify({ custom_id: "a", method: "POST", url: "/v1/chat/completions", body });
  const client = service.client();
  const file = await client.files.create({ purpose: "batch", file: new File([line], "in.jsonl") });
  const batch = await client.batches.create({
    ...{ input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  await expect.poll(async () => (await client.batches.retrieve(batch.id)).status).toBe("completed");
  const { output_file_id: output } = await client.batches.retrieve(batch.id);
  expect(await (await client.files.content(output ?? "")).text()).toContain(`Mail ${EMAIL}`);
  expectMasked();
});

test("turns of a Realtime session are guarded", async () => {
  const client = await RealtimeClient.connect(service, { query: "model=echo" });
  client.send({ type: "session.update", session: { type: "realtime", output_modalities: ["text"] } });
  await client.next("session.updated");
  const content = [{ type: "input_text", text: `Mail ${EMAIL}` }];
  client.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
  client.send({ type: "response.create" });
  const { response } = (await client.next("response.done")) as Any;
  expect(response.output[0].content[0].text).toBe(`Mail ${EMAIL}`);
  expectMasked();
  client.close();
});

test("background responses are guarded", async () => {
  const created = await service.post("/v1/responses", { model: "echo", input: `Mail ${EMAIL}`, background: true });
  const { id } = (await created.json()) as { id: string };
  await expect
    .poll(async () => ((await (await service.fetch(`/v1/responses/${id}`)).json()) as Any).status)
    .toBe("completed");
  expectMasked();
});

test("rerankings are guarded", async () => {
  const response = await service.post("/v1/rerank", {
    model: "vectors",
    query: `Who is ${EMAIL}?`,
    documents: [EMAIL, "x"],
  });
  expect(response.status).toBe(200);
  expectMasked();
});

test("a cached answer has the values of the request that gets it", async () => {
  expect(await textOf(await ask("Mail one@example.com", "cached"))).toBe("Mail one@example.com");
  const second = await ask("Mail two@example.com", "cached");
  expect(second.headers.get("x-parlance-cache")).toBe("hit");
  expect(await textOf(second)).toBe("Mail two@example.com");
  expect(upstream.received).toHaveLength(1);
});

const FILE = Buffer.from(`Contact: ${EMAIL}\n`).toString("base64");

test("text files are read as text, in the request and by their ID", async () => {
  const inline = { type: "file", file: { filename: "a.txt", file_data: `data:text/plain;base64,${FILE}` } };
  expect(await textOf(await ask([{ type: "text", text: "Read:" }, inline]))).toContain(`Contact: ${EMAIL}`);
  expectMasked();
  const stored = await service.client().files.create({
    ...{ purpose: "user_data", file: new File([`Contact: ${EMAIL}\n`], "b.txt", { type: "text/plain" }) },
  });
  expect((await ask([{ type: "file", file: { file_id: stored.id } }])).status).toBe(200);
  expectMasked();
  const responses = await service.post("/v1/responses", {
    ...{ model: "echo", store: false },
    input: [
      { role: "user", content: [{ type: "input_file", filename: "a.csv", file_data: `data:text/csv;base64,${FILE}` }] },
    ],
  });
  expect(responses.status).toBe(200);
  expectMasked();
  const source = { type: "base64", media_type: "text/plain", data: FILE };
  const messages = [
    {
      role: "user",
      content: [
        { type: "document", source },
        { type: "text", text: "Read." },
      ],
    },
  ];
  expect((await service.post("/v1/messages", { model: "echo", max_tokens: 50, messages })).status).toBe(200);
  expectMasked();
});

test("documents are read as text, and files without text are refused", async () => {
  const document = pdf(`Contact: ${EMAIL}`).toString("base64");
  const report = { filename: "a.pdf", file_data: `data:application/pdf;base64,${document}` };
  expect(await textOf(await ask([{ type: "file", file: report }]))).toContain(`Contact: ${EMAIL}`);
  expectMasked();
  const image = Buffer.from("\x89PNG\r\n", "latin1").toString("base64");
  const file = { filename: "a.png", file_data: `data:image/png;base64,${image}` };
  expect((await ask([{ type: "file", file }])).status).toBe(400);
  expect(upstream.take()).toBe("");
});
