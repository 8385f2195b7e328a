/** Requests that run when their key is revoked: they end within a second, and what was generated is billed. */

import type OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedChat } from "../../src/engines/scripted/scripted-chat.ts";
import { scriptedSettings } from "../../src/engines/scripted/settings.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { administrator } from "../support/service/team-services.ts";
import { expectWithin } from "../support/timing.ts";
import { type OpenAiUpstream, startOpenAiUpstream } from "../support/upstreams/openai-upstream.ts";

const REPLY = { text: "word ".repeat(600), delay_ms_per_token: 50 };
const MAX_MS = 2_000;

let upstream: OpenAiUpstream;
const services: ServiceProcess[] = [];
beforeAll(async () => {
  upstream = await startOpenAiUpstream(new ScriptedChat(scriptedSettings.parse({ replies: [REPLY] })));
  for (const workers of [1, 2]) {
    const config = `
builtin_models: false
server: { workers: ${workers}, drain_seconds: 1 }
models:
  - id: slow
    task: chat
    price: { completion: "0.001" }
    deployments: [{ engine: openai-compatible, base_url: "${upstream.baseUrl}", model: inner }]
`;
    services.push(await startServiceProcess({ config }));
  }
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await upstream?.close();
});

async function createKey(service: ServiceProcess, name: string) {
  const admin = administrator(service);
  const project = await admin.projects.create({ name });
  const { api_key: key } = await admin.projects.serviceAccounts.create(project.id, { name });
  if (!key) throw new Error("no key");
  const client = service.client({ apiKey: key.value, maxRetries: 0 });
  return { admin, project, client, revoke: () => admin.projects.apiKeys.delete(key.id, { project_id: project.id }) };
}

test.each([0, 1])("ends a stream whose key is revoked, service %d", async (index) => {
  const service = services[index] as ServiceProcess;
  const { client, revoke, admin, project } = await createKey(service, `Stream ${index}`);
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Go." }];
  const stream = await client.chat.completions.create({ model: "slow", messages, stream: true });
  let words = 0;
  let revokedAt = Number.POSITIVE_INFINITY;
  const read = async () => {
    for await (const chunk of stream) {
      words += chunk.choices[0]?.delta.content ? 1 : 0;
      if (words !== 5) continue;
      await revoke();
      revokedAt = performance.now();
    }
  };
  await expect(read()).rejects.toThrow("revoked while it ran");
  expectWithin(revokedAt, MAX_MS);
  expect(words).toBeLessThan(100);
  // Written in batches.
  await eventually(async () => {
    const { data } = await admin.usage.completions({
      start_time: Math.floor(Date.now() / 1000) - 600,
      project_ids: [project.id],
    });
    const used = data.flatMap(({ results }) => results)[0] as { output_tokens?: number } | undefined;
    expect(used?.output_tokens).toBeGreaterThanOrEqual(5);
  });
});

test("fails a background response whose key is revoked", async () => {
  const service = services[0] as ServiceProcess;
  const { client, revoke, admin, project } = await createKey(service, "Background");
  const { id } = await client.responses.create({ model: "slow", input: "Go.", background: true });
  await eventually(async () => expect((await client.responses.retrieve(id)).status).toBe("in_progress"));
  const { api_key: other } = await admin.projects.serviceAccounts.create(project.id, { name: "Reader" });
  const reader = service.client({ apiKey: other?.value ?? "" });
  await revoke();
  const revokedAt = performance.now();
  await eventually(async () => expect((await reader.responses.retrieve(id)).status).toBe("failed"));
  expectWithin(revokedAt, MAX_MS + 500);
});
