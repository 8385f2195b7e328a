/** Limits, moderation, time and the end of the service, as they apply to Realtime sessions. */

import { afterEach, expect, onTestFinished, test } from "vitest";
import { startMcpServer } from "../support/mcp/mcp-server.ts";
import { RealtimeClient, silence } from "../support/service/realtime-client.ts";
import { type Service, startService } from "../support/service/service.ts";
import { startServiceProcess } from "../support/service/service-process.ts";
import { administrator } from "../support/service/team-services.ts";

const MODELS = `
  - { id: hears, task: transcription, deployments: [{ engine: scripted, replies: [{ text: "Hello." }] }] }
  - { id: speaks, task: speech, deployments: [{ engine: scripted, speech: {} }] }
  - id: judge
    task: moderation
    deployments:
      - engine: guard
        family: llama-guard-3
        chat: { engine: scripted, replies: [{ match: poison, text: "unsafe\\nS9" }, { text: safe }] }
  - { id: sees, task: chat, deployments: [{ engine: scripted, abilities: { vision: true }, replies: [{ text: "A cat." }] }] }
  - id: talks
    task: chat
    deployments:
      - engine: scripted
        replies: [{ match: slow, text: "One two three.", delay_ms_per_token: 300 }, { text: "Good day." }]
`;

let service: Service | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

const configured = (config: string) => `builtin_models: false\n${config}\nmodels:${MODELS}`;

async function start(config = ""): Promise<Service> {
  service = await startService({ config: configured(config) });
  return service;
}

async function talk(at: Service, text: string): Promise<RealtimeClient> {
  const client = await RealtimeClient.connect(at, { query: "model=talks" });
  client.send({ type: "session.update", session: { type: "realtime", output_modalities: ["text"] } });
  await client.next("session.updated");
  ask(client, text);
  return client;
}

function ask(client: RealtimeClient, text: string): void {
  const content = [{ type: "input_text", text }];
  client.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
  client.send({ type: "response.create" });
}

test("a project's limits and moderation policy apply to each part, and the session goes on", async () => {
  const at = await start("limits: { project_model: { requests_per_minute: 2 } }");
  const client = await talk(at, "Hi");
  expect((await client.next("rate_limits.updated")).rate_limits).toMatchObject([{ name: "requests", limit: 2 }]);
  expect((await client.next("response.done")).response.status).toBe("completed");
  const admin = administrator(at);
  const [project] = (await admin.projects.list()).data;
  const policy = `/v1/organization/projects/${project?.id}/moderation_policy`;
  const headers = { authorization: `Bearer ${at.adminKey}` };
  const set = await at.post(policy, { model: "judge", policy: { input: { mode: "block" } } }, { headers });
  expect(set.status).toBe(200);
  ask(client, "poison");
  const { response: blocked } = await client.next("response.done");
  expect(blocked).toMatchObject({ status: "failed", status_details: { error: { code: "content_policy_violation" } } });
  await at.fetch(policy, { method: "DELETE", headers });
  const seen: string[] = [];
  for (let index = 0; index < 3; index += 1) {
    ask(client, "Hi");
    const { response } = await client.next("response.done");
    seen.push(response.status_details?.error.code ?? response.status);
  }
  expect(seen.at(-1)).toBe("rate_limit_exceeded");
  client.send({ type: "session.update", session: { type: "realtime", audio: { input: { turn_detection: null } } } });
  client.sendAudio(silence(1));
  client.send({ type: "input_audio_buffer.commit" });
  expect((await client.next("conversation.item.input_audio_transcription.completed")).transcript).toBe("Hello.");
  await client.close();
});

test("an answer counts before the images of its items are read, also when it fails", async () => {
  const at = await start("limits: { project_model: { requests_per_minute: 1 } }");
  const client = await RealtimeClient.connect(at, { query: "model=sees" });
  client.send({ type: "session.update", session: { type: "realtime", output_modalities: ["text"] } });
  await client.next("session.updated");
  const content = [{ type: "input_image", image_url: "https://127.0.0.1:9/a.png" }];
  client.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
  const codes: unknown[] = [];
  for (let index = 0; index < 2; index += 1) {
    client.send({ type: "response.create" });
    codes.push((await client.next("response.done")).response.status_details?.error.code);
  }
  expect(codes).toEqual(["invalid_url", "rate_limit_exceeded"]);
  await client.close();
});

test("the lists of servers of one configuration count as a request, as those of a response do", async () => {
  const mcp = await startMcpServer("sessions");
  onTestFinished(() => mcp.close());
  const names = ["one", "two", "three", "four"];
  const servers = names.map((name) => `{ name: ${name}, url: "${mcp.url}" }`);
  const limits = "limits: { project_model: { requests_per_minute: 2 } }";
  const at = await start(`${limits}\nmcp_servers: [${servers.join(", ")}]`);
  const client = await RealtimeClient.connect(at, { query: "model=talks" });
  const ends = () => client.events.filter(({ type }) => /^mcp_list_tools\.(completed|failed)$/.test(type));
  const list = async (labels: string[], count: number) => {
    const tools = labels.map((label) => ({ type: "mcp", server_label: label }));
    client.send({ type: "session.update", session: { type: "realtime", tools } });
    await expect.poll(() => ends().length).toBe(count);
  };
  await list(["one", "two"], 2);
  await list(["one", "two", "three"], 3);
  const listed = mcp.requests.length;
  await list(["four"], 4);
  expect(ends().slice(0, 3)).toEqual(Array(3).fill(expect.objectContaining({ type: "mcp_list_tools.completed" })));
  expect(ends()[3]).toMatchObject({ type: "mcp_list_tools.failed", error: { code: "rate_limit_exceeded" } });
  expect(mcp.requests).toHaveLength(listed);
  await client.close();
});

test("ends a session that has reached its maximum length", async () => {
  const at = await start("realtime: { max_session_seconds: 1 }");
  const client = await talk(at, "slow");
  expect((await client.next("error")).error.code).toBe("session_expired");
  expect((await client.closed).code).toBe(1008);
});

test("lets a response finish when the service stops, and ends idle sessions at once", async () => {
  const at = await startServiceProcess({ config: configured("") });
  service = at;
  const idle = await talk(at, "Hi");
  await idle.next("response.done");
  const busy = await talk(at, "slow");
  await busy.next("response.output_text.delta");
  const stopped = at.stop();
  expect(await idle.closed).toEqual({ code: 1001, reason: "server_is_overloaded" });
  expect((await busy.next("response.done")).response.status).toBe("completed");
  expect((await busy.closed).code).toBe(1001);
  expect(await stopped).toBe(0);
});
