/** What every operation on chat and embedding models has in common: keys, permissions, limits, usage, policies. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatLine, createBatch, readAnswers, readLines, untilEnded } from "../support/service/batches.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";

const REQUESTS_PER_MINUTE = 4;

const guard = `engine: guard, family: llama-guard-3, chat: { engine: scripted, replies: [{ match: zebra, text: "unsafe\\nS1" }, { text: safe }] }`;

let service: Service;
beforeAll(async () => {
  service = await startService({
    config: `
builtin_models: false
ollama: { enabled: true }
limits: { project_model: { requests_per_minute: ${REQUESTS_PER_MINUTE} } }
models:
  - { id: parrot, task: chat, price: { prompt: "0.001", completion: "0.01" }, deployments: [{ engine: scripted, echo: true, abilities: { logprobs: true } }] }
  - { id: minilm, task: embedding, price: { prompt: "0.001" }, deployments: [{ engine: sentence-embeddings }] }
  - { id: judge, task: moderation, deployments: [{ ${guard} }] }
`,
  });
});
afterAll(() => service?.stop());

interface Operation {
  path: string;
  model: "parrot" | "minilm";
  body: (text: string) => object;
  /** Message of an error body. */
  messageOf: (body: { error: { message: string } & string }) => string;
}

const inError: Operation["messageOf"] = ({ error }) => error.message;
const asError: Operation["messageOf"] = ({ error }) => error;
const user = (content: string) => [{ role: "user", content }];

const CHATS: Record<string, Operation> = {
  "chat completions": {
    path: "/v1/chat/completions",
    model: "parrot",
    body: (text) => ({ messages: user(text) }),
    messageOf: inError,
  },
  decisions: {
    path: "/v1/decisions",
    model: "parrot",
    body: (text) => ({ input: text, questions: [{ type: "predicate", instructions: "It greets." }] }),
    messageOf: inError,
  },
  completions: { path: "/v1/completions", model: "parrot", body: (text) => ({ prompt: text }), messageOf: inError },
  responses: { path: "/v1/responses", model: "parrot", body: (text) => ({ input: text }), messageOf: inError },
  "responses in the background": {
    path: "/v1/responses",
    model: "parrot",
    body: (text) => ({ input: text, background: true }),
    messageOf: inError,
  },
  messages: {
    path: "/v1/messages",
    model: "parrot",
    body: (text) => ({ messages: user(text), max_tokens: 50 }),
    messageOf: inError,
  },
  generateContent: {
    path: "/v1beta/models/{model}:generateContent",
    model: "parrot",
    body: (text) => ({ contents: [{ parts: [{ text }] }] }),
    messageOf: inError,
  },
  streamGenerateContent: {
    path: "/v1beta/models/{model}:streamGenerateContent",
    model: "parrot",
    body: (text) => ({ contents: [{ parts: [{ text }] }] }),
    messageOf: inError,
  },
  "Ollama's chat": {
    path: "/api/chat",
    model: "parrot",
    body: (text) => ({ messages: user(text), stream: false }),
    messageOf: asError,
  },
  "Ollama's generate": {
    path: "/api/generate",
    model: "parrot",
    body: (text) => ({ prompt: text, stream: false }),
    messageOf: asError,
  },
  "Ollama's raw generate": {
    path: "/api/generate",
    model: "parrot",
    body: (text) => ({ prompt: text, stream: false, raw: true }),
    messageOf: asError,
  },
};

const EMBEDDINGS: Record<string, Operation> = {
  embeddings: { path: "/v1/embeddings", model: "minilm", body: (text) => ({ input: text }), messageOf: inError },
  rerank: {
    path: "/v1/rerank",
    model: "minilm",
    body: (text) => ({ query: text, documents: [text, "something else"] }),
    messageOf: inError,
  },
  embedContent: {
    path: "/v1beta/models/{model}:embedContent",
    model: "minilm",
    body: (text) => ({ content: { parts: [{ text }] } }),
    messageOf: inError,
  },
  "Ollama's embed": { path: "/api/embed", model: "minilm", body: (text) => ({ input: text }), messageOf: asError },
};

interface Project {
  id: string;
  key: string;
}

interface Entity {
  id: string;
  api_key: { value: string };
}

async function administer<Answer = Entity>(path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${service.baseUrl}/organization/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

async function newProject(): Promise<Project> {
  const { id } = await administer("projects", { name: "Contract" });
  const account = await administer(`projects/${id}/service_accounts`, { name: "Caller" });
  return { id, key: account.api_key.value };
}

function send({ path, model, body }: Operation, key: string, { text = "Hello there", asked = model as string } = {}) {
  const headers = { authorization: `Bearer ${key}` };
  return service.post(path.replace("{model}", asked), { model: asked, ...body(text) }, { headers });
}

describe.each(Object.entries({ ...CHATS, ...EMBEDDINGS }))("%s", (_name, operation) => {
  test("requires a key that works", async () => {
    const response = await send(operation, "sk-wrong");
    expect(response.status).toBe(401);
    expect(operation.messageOf((await response.json()) as never)).toContain("Incorrect API key");
  });

  test("does not find an unknown model, nor one that the project may not use", async () => {
    const { id, key } = await newProject();
    const unknown = await send(operation, key, { asked: "nothing" });
    expect(unknown.status).toBe(404);
    await administer(`projects/${id}/model_permissions`, { mode: "allow_list", model_ids: ["judge"] });
    const forbidden = await send(operation, key);
    expect(forbidden.status).toBe(404);
    expect(operation.messageOf((await forbidden.json()) as never)).toContain("does not exist");
  });

  test("refuses a model of another task", async () => {
    const { key } = await newProject();
    const response = await send(operation, key, { asked: "judge" });
    expect(response.status).toBe(400);
    expect(operation.messageOf((await response.json()) as never)).toContain("performs moderation");
  });

  test("counts against the limits of the project", async () => {
    const { key } = await newProject();
    const statuses: number[] = [];
    for (let request = 0; request <= REQUESTS_PER_MINUTE; request += 1) {
      const response = await send(operation, key);
      statuses.push(response.status);
      if (response.status === 429) expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      await response.body?.cancel();
    }
    expect(statuses).toEqual([...Array.from({ length: REQUESTS_PER_MINUTE }, () => 200), 429]);
  });

  test("reports usage and costs of the project", async () => {
    const { id, key } = await newProject();
    expect((await send(operation, key)).status).toBe(200);
    const start = `start_time=${Math.floor(Date.now() / 1000) - 3600}&project_ids=${id}`;
    const kind = operation.model === "parrot" ? "completions" : "embeddings";
    type Page = { data: { results: Record<string, unknown>[] }[] };
    await eventually(async () => {
      const used = await administer<Page>(`usage/${kind}?${start}`);
      expect(used.data.flatMap(({ results }) => results)).toMatchObject([
        { num_model_requests: 1, input_tokens: expect.any(Number) },
      ]);
      const costs = await administer<Page>(`costs?${start}`);
      const [cost] = costs.data.flatMap(({ results }) => results);
      expect((cost as { amount: { value: number } }).amount.value).toBeGreaterThan(0);
    });
  });
});

describe.each(Object.entries(CHATS))("%s under a moderation policy", (name, operation) => {
  test("blocks flagged input, and answers other input", async () => {
    const { id, key } = await newProject();
    const policy = { input: { mode: "block" }, output: { mode: "block" } };
    await administer(`projects/${id}/moderation_policy`, { model: "judge", policy });
    expect((await send(operation, key)).status).toBe(200);
    const response = await send(operation, key, { text: "A zebra" });
    const body = (await response.json()) as { id: string };
    if (name !== "responses in the background") {
      expect(response.status).toBe(400);
      expect(operation.messageOf(body as never)).toContain("blocked by the moderation policy");
      return;
    }
    await eventually(async () => {
      const stored = await service.fetch(`/v1/responses/${body.id}`, { headers: { authorization: `Bearer ${key}` } });
      expect(await stored.json()).toMatchObject({
        status: "failed",
        error: { message: expect.stringContaining("blocked by the moderation policy") },
      });
    });
  });
});

test("a line of a batch is found, permitted, limited and moderated as the same request", async () => {
  const { id, key } = await newProject();
  const client = service.client({ apiKey: key });
  const policy = { input: { mode: "block" }, output: { mode: "block" } };
  await administer(`projects/${id}/moderation_policy`, { model: "judge", policy });
  const lines = [
    chatLine("answered", "Hello there"),
    chatLine("blocked", "A zebra"),
    chatLine("unknown", "Hello there", "nothing"),
  ];
  const batch = await untilEnded(client, await createBatch(client, lines));
  expect((await readAnswers(client, batch)).get("answered")).toBe("Hello there");
  const errors = await readLines(client, batch.error_file_id);
  const failures = errors.map(({ custom_id, response }) => {
    const body = response?.body as { error: { message: string } } | undefined;
    return [custom_id, response?.status_code, body?.error.message];
  });
  expect(failures).toEqual(
    expect.arrayContaining([
      ["blocked", 400, expect.stringContaining("blocked by the moderation policy")],
      ["unknown", 404, expect.stringContaining("does not exist")],
    ]),
  );
  const statuses = () => {
    const logged = service.log().filter(({ msg, projectId }) => msg === "request" && projectId === id);
    return logged.filter(({ path }) => path === "/v1/chat/completions").map(({ status }) => status);
  };
  // The last line is logged after its answer is stored.
  await expect.poll(() => statuses().sort()).toEqual([200, 400, 404]);
  const restricted = await newProject();
  await administer(`projects/${restricted.id}/model_permissions`, { mode: "allow_list", model_ids: ["judge"] });
  const other = service.client({ apiKey: restricted.key });
  const forbidden = await untilEnded(other, await createBatch(other, lines.slice(0, 1)));
  const [line] = await readLines(other, forbidden.error_file_id);
  expect(line?.response?.status_code).toBe(404);
});

test.each(["fine_tuning/jobs", "assistants", "videos"])("names what there is to callers of /v1/%s", async (path) => {
  const response = await service.post(`/v1/${path}`, {});
  expect(response.status).toBe(404);
  const { error } = (await response.json()) as { error: { message: string } };
  for (const there of ["/v1/chat/completions", "/v1/completions", "/v1/rerank"]) {
    expect(error.message).toContain(there);
  }
});
