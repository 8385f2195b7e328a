/** What projects record of prompts and answers, who may read it, and full-text search, on both databases. */

import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../support/databases/databases.ts";
import { type EchoUpstream, startEchoUpstream } from "../support/guardrails/echo-upstream.ts";
import { RealtimeClient } from "../support/service/realtime-client.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any;

const databases = useDatabases();
const EMAIL = "ada.lovelace@example.com";

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let upstream: EchoUpstream;
  let service: ServiceProcess;
  let project: { id: string; key: string };
  let quiet: { id: string; key: string };

  const administer = async (method: string, path: string, body?: unknown, key = service.adminKey): Promise<Any> => {
    const response = await fetch(`${service.baseUrl}/organization${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return response.json();
  };
  const createProject = async (name: string) => {
    const { id } = await administer("POST", "/projects", { name });
    const account = await administer("POST", `/projects/${id}/service_accounts`, { name: "Bot" });
    return { id, key: account.api_key.value as string };
  };
  const record = (settings: object, id = project.id) => administer("POST", `/projects/${id}/recording`, settings);
  /** Sends a request and returns its ID. */
  const send = async (path: string, body: object, key = project.key) => {
    const response = await fetch(`${service.origin}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    await response.text();
    return response.headers.get("x-request-id") ?? "";
  };
  const chat = (content: string, more: object = {}, key = project.key) =>
    send("/v1/chat/completions", { model: "local", messages: [{ role: "user", content }], ...more }, key);
  /** A request is recorded once its connection has all of the answer, which may be after the client does. */
  const contentOf = async (id: string): Promise<Any> => {
    await expect.poll(async () => (await administer("GET", `/requests/${id}`)).id).toBe(id);
    return administer("GET", `/requests/${id}?include[]=content`);
  };
  const said = ({ content }: Any) => content.output_messages.map(({ parts }: Any) => parts);

  beforeAll(async () => {
    upstream = await startEchoUpstream();
    const { url } = await databases.create(kind);
    const deployment = deploymentAt(upstream, "echo");
    service = await startServiceProcess({
      config: `
builtin_models: false
ollama: { enabled: true }
usage: { labels: { end_users: true } }
server: { workers: 2 }
recorded_content: { max_content_kilobytes: 16 }
models:
  - { id: local, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: breaks, task: chat, deployments: [{ engine: scripted, replies: [{ text: one two, fail_after_tokens: 1 }] }] }
  - { id: forwarded, task: chat, deployments: [${deployment}] }
  - { id: guarded, task: chat, guardrails: [{ type: words, words: [Bluebird], action: mask }], deployments: [${deployment}] }
  - { id: vectors, task: embedding, deployments: [${deployment}] }
  - { id: judges, task: moderation, deployments: [{ engine: guard, family: llama-guard-4, chat: { engine: scripted, replies: [{ text: safe }] } }] }
  - { id: hears, task: transcription, deployments: [{ engine: scripted, replies: [{ text: Good evening. }] }] }
  - { id: paints, task: image, deployments: [{ engine: scripted, echo: true }] }
  - { id: speaks, task: speech, deployments: [{ engine: scripted, speech: {} }] }
`,
      environment: {
        PARLANCE_ENCRYPTION_KEY: "k".repeat(40),
        ...(url !== undefined && { DATABASE_URL: url.reveal() }),
      },
    });
    project = await createProject("Recorded");
    quiet = await createProject("Quiet");
  });
  afterAll(async () => {
    await service.stop();
    await upstream[Symbol.asyncDispose]();
  });

  test("records nothing unless the project says so", async () => {
    expect(await administer("GET", `/projects/${quiet.id}/recording`)).toMatchObject({ record_content: "off" });
    const id = await chat("Nobody keeps this.", {}, quiet.key);
    expect(await contentOf(id)).toMatchObject({ id, recorded: false, content: null, feedback: [] });
  });

  test("records prompt, answer, tools and calls of a chat, streamed or not, forwarded or not", async () => {
    await record({ record_content: "all" });
    const tools = [{ type: "function", function: { name: "send", parameters: { type: "object" } } }];
    for (const model of ["local", "forwarded"]) {
      for (const stream of [false, true]) {
        const details = await contentOf(await chat("What a morning.", { model, stream }));
        expect(details.content).toMatchObject({
          input_messages: [{ role: "user", parts: [{ type: "text", content: "What a morning." }] }],
          truncated: false,
        });
        expect(said(details)).toEqual([[{ type: "text", content: "What a morning." }]]);
      }
    }
    for (const stream of [false, true]) {
      const details = await contentOf(await chat("Ada", { model: "forwarded", tools, stream }));
      expect(details.content.tools).toEqual([{ name: "send", parameters: { type: "object" } }]);
      expect(said(details)).toEqual([[{ type: "tool_call", id: "call_1", name: "send", arguments: '{"to":"Ada"}' }]]);
      expect(details.content.output_messages[0].finish_reason).toBe("tool_calls");
    }
  });

  test("records a response in the background once it has ended", async () => {
    await record({ record_content: "all" });
    const id = await send("/v1/responses", { model: "local", input: "Good night.", background: true });
    // The answer to the request came before.
    await expect.poll(async () => (await contentOf(id)).recorded).toBe(true);
    const details = await contentOf(id);
    expect(details.content.input_messages).toMatchObject([{ role: "user", parts: [{ content: "Good night." }] }]);
    expect(said(details)).toEqual([[{ type: "text", content: "Good night." }]]);
  });

  test("records responses of Realtime sessions, each as a request", async () => {
    await record({ record_content: "all" });
    const client = await RealtimeClient.connect(service, { query: "model=local", apiKey: project.key });
    client.send({ type: "session.update", session: { type: "realtime", output_modalities: ["text"] } });
    const content = [{ type: "input_text", text: "A spoken otter." }];
    client.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
    client.send({ type: "response.create" });
    await client.next("response.done");
    await client.close();
    const turns = async () => {
      const { data } = await administer("GET", `/requests?project_ids[]=${project.id}&limit=100`);
      return data.filter(({ operation }: Any) => operation === "realtime");
    };
    await expect.poll(turns).toHaveLength(1);
    const [entry] = await turns();
    expect(entry).toMatchObject({ operation: "realtime", model: "local", status: 200, outcome: "finished" });
    const details = await contentOf(entry.id);
    expect(details).toMatchObject({ recorded: true, output_tokens: entry.output_tokens });
    expect(said(details)).toEqual([[{ type: "text", content: "A spoken otter." }]]);
  });

  test("records the other formats and tasks", async () => {
    await record({ record_content: "all" });
    const user = { role: "user", content: "Good evening." };
    const inputs: [path: string, body: object, answer: string | undefined][] = [
      ["/v1/completions", { model: "forwarded", prompt: "Good evening." }, "Good evening."],
      ["/v1/fim/completions", { model: "forwarded", prompt: "Start.", suffix: "Good evening." }, undefined],
      ["/v1/messages", { model: "local", max_tokens: 50, messages: [user] }, "Good evening."],
      ["/v1/responses", { model: "local", input: "Good evening." }, "Good evening."],
      ["/v1beta/models/local:generateContent", { contents: [{ parts: [{ text: "Good evening." }] }] }, "Good evening."],
      ["/v1beta/models/vectors:embedContent", { content: { parts: [{ text: "Good evening." }] } }, undefined],
      ["/api/chat", { model: "local", messages: [user] }, "Good evening."],
      ["/v1/embeddings", { model: "vectors", input: "Good evening." }, undefined],
      ["/v1/rerank", { model: "vectors", query: "Greetings?", documents: ["Good evening.", "Rain."] }, "[1,1]"],
      ["/v1/moderations", { model: "judges", input: "Good evening." }, "flagged"],
      ["/v1/images/generations", { model: "paints", prompt: "Good evening." }, "image"],
      ["/v1/audio/speech", { model: "speaks", voice: "alloy", input: "Good evening." }, undefined],
    ];
    for (const [path, body, answer] of inputs) {
      const { content } = await contentOf(await send(path, body));
      expect(JSON.stringify(content.input_messages), path).toContain("Good evening.");
      if (answer !== undefined) expect(JSON.stringify(content.output_messages), path).toContain(answer);
    }
    const form = new FormData();
    form.set("model", "hears");
    form.set("file", new File([await readFile("test/recordings/speech.wav")], "evening.wav"));
    const headers = { authorization: `Bearer ${project.key}` };
    const url = `${service.baseUrl}/audio/transcriptions`;
    const response = await fetch(url, { method: "POST", headers, body: form });
    await response.text();
    const { content } = await contentOf(response.headers.get("x-request-id") ?? "");
    expect(content.input_messages[0].parts).toEqual([{ type: "blob", modality: "audio", name: "evening.wav" }]);
    expect(content.output_messages[0].parts).toEqual([{ type: "text", content: "Good evening." }]);
  });

  test("masks personal data, secrets and what the guardrails of the model mask before it writes", async () => {
    await record({ record_content: "all" });
    const details = await contentOf(await chat(`Bluebird writes to ${EMAIL}.`, { model: "guarded" }));
    const text = JSON.stringify(details.content);
    expect(text).toContain("<EMAIL_ADDRESS_1>");
    expect(text).not.toContain(EMAIL);
    expect(text).not.toContain("Bluebird");
    await record({ record_content: "all", redact: [] });
    expect(JSON.stringify((await contentOf(await chat(`Write to ${EMAIL}.`))).content)).toContain(EMAIL);
  });

  test("records only failed requests in the mode `errors`, refused bodies included", async () => {
    await record({ record_content: "errors" });
    expect(await contentOf(await chat("All is well."))).toMatchObject({ recorded: false });
    const refused = await contentOf(await chat("Too warm.", { temperature: 9 }));
    expect(refused).toMatchObject({ status: 400, recorded: true });
    expect(JSON.stringify(refused.content.input_messages)).toContain("Too warm.");
    upstream.failing = true;
    const failed = await contentOf(await chat("It breaks.", { model: "forwarded" }));
    upstream.failing = false;
    expect(failed).toMatchObject({ status: 400, recorded: true });
    expect(JSON.stringify(failed.content.input_messages)).toContain("It breaks.");
    const broken = await contentOf(await chat("It stops.", { model: "breaks", stream: true }));
    expect(broken).toMatchObject({ status: 200, error: expect.any(String), recorded: true });
    const listed = await administer("GET", "/requests?status=failed&models[]=breaks");
    expect(listed.data.map(({ id }: Any) => id)).toEqual([broken.id]);
  });

  test("cuts content that is too large and says so", async () => {
    await record({ record_content: "all", redact: [] });
    const { content } = await contentOf(await chat("x".repeat(50_000)));
    expect(content.truncated).toBe(true);
    expect(JSON.stringify(content).length).toBeLessThan(17_000);
  });

  test("finds requests by words and phrases, also in Chinese, within the filters of the list", async () => {
    await record({ record_content: "all" });
    const found = await chat("The heron waits beside the weir.");
    await chat("The weir is beside a heron.");
    const chinese = await chat("白鹭站在河边");
    const search = async (query: string, more = "") =>
      (await administer("GET", `/requests/search?query=${encodeURIComponent(query)}${more}`)) as Any;
    expect((await search("héron WEIR")).data).toHaveLength(2);
    expect((await search('"waits beside"')).data.map(({ id }: Any) => id)).toEqual([found]);
    expect((await search("河边")).data.map(({ id }: Any) => id)).toEqual([chinese]);
    expect((await search("heron kingfisher")).data).toEqual([]);
    expect((await search("heron", `&project_ids=${quiet.id}`)).data).toEqual([]);
    const first = await search("heron", "&limit=1");
    const second = await search("heron", `&limit=1&page=${first.next_page}`);
    expect([...first.data, ...second.data].map(({ id }: Any) => id).at(-1)).toBe(found);
    expect((await search("!!")).error).toMatchObject({ param: "query" });
  });

  test("shows content to keys of projects never, and notes each look in the audit log", async () => {
    await record({ record_content: "all" });
    const id = await chat("For few eyes.");
    const asProject = await administer("GET", `/requests/${id}?include[]=content`, undefined, project.key);
    expect(asProject.error).toMatchObject({ code: "insufficient_permissions" });
    expect(await administer("GET", `/requests/${id}`, undefined, project.key)).toMatchObject({ recorded: false });
    expect((await administer("GET", "/requests/search?query=eyes", undefined, project.key)).error.code).toBe(
      "insufficient_permissions",
    );
    await contentOf(id);
    const { data } = await administer("GET", "/audit_logs?limit=20");
    const look = data.find(({ type }: Any) => type === "request.content.read");
    expect(look["request.content.read"]).toMatchObject({ id });
    expect(JSON.stringify(data)).not.toContain("For few eyes");
  });

  test("filters the history and the export by end user", async () => {
    await record({ record_content: "all" });
    const id = await chat("For a visitor.", { user: 'visitor "7"' });
    await chat("For another one.", { user: "visitor 8" });
    await contentOf(id);
    const query = `end_users=${encodeURIComponent('visitor "7"')}`;
    const listed = await administer("GET", `/requests?${query}`);
    expect(listed.data.map((entry: Any) => entry.id)).toEqual([id]);
    const found = await administer("GET", `/requests/search?query=visitor&${query}`);
    expect(found.data.map((entry: Any) => entry.id)).toEqual([id]);
  });

  test("exports examples for fine-tuning and items for evaluations, by feedback", async () => {
    const exported = await createProject("Exported");
    await record({ record_content: "all" }, exported.id);
    const good = await chat("A good question.", {}, exported.key);
    const tools = [{ type: "function", function: { name: "send" } }];
    await chat("Ada", { model: "forwarded", tools }, exported.key);
    await chat("Too warm.", { temperature: 9 }, exported.key);
    await contentOf(good);
    await administer("POST", `/requests/${good}/feedback`, { score: 1, tags: ["kept"] }, exported.key);
    const lines = async (query: string): Promise<Any[]> => {
      const headers = { authorization: `Bearer ${service.adminKey}` };
      const path = `${service.baseUrl}/organization/requests/export?project_ids=${exported.id}${query}`;
      const text = await (await fetch(path, { headers })).text();
      return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    };
    expect(await lines("")).toEqual([
      {
        messages: [
          { role: "user", content: "A good question." },
          { role: "assistant", content: "A good question." },
        ],
      },
      {
        messages: [
          { role: "user", content: "Ada" },
          expect.objectContaining({ role: "assistant", content: null, tool_calls: [expect.any(Object)] }),
        ],
        tools: [{ type: "function", function: { name: "send" } }],
      },
    ]);
    expect(await lines("&format=evals&min_score=0.5")).toEqual([
      expect.objectContaining({ item: expect.objectContaining({ request_id: good, score: 1, tags: ["kept"] }) }),
    ]);
    expect(await lines("&query=question")).toHaveLength(1);
    const { data } = await administer("GET", "/audit_logs?limit=20");
    expect(data.some(({ type }: Any) => type === "request.content.exported")).toBe(true);
  });

  test("takes feedback from the key that made the request, and replaces it", async () => {
    const id = await chat("Was this good?", {}, quiet.key);
    const rate = (body: object, key: string) => administer("POST", `/requests/${id}/feedback`, body, key);
    await rate({ score: 0, comment: "No." }, quiet.key);
    await rate({ score: 1, comment: "Yes, after all.", tags: ["helpful"] }, quiet.key);
    expect((await rate({ score: 1 }, project.key)).error).toMatchObject({ code: "not_found" });
    expect((await rate({}, quiet.key)).error).toMatchObject({ param: "score" });
    const { feedback } = await administer("GET", `/requests/${id}`);
    expect(feedback).toEqual([
      expect.objectContaining({ score: 1, comment: "Yes, after all.", tags: ["helpful"], request_id: id }),
    ]);
  });
});
