/** WebSockets whose key no longer works: a client that sends only silence, or nothing, starts nothing that would notice. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { SOCKET_PATHS } from "../../src/http/sockets/socket-paths.ts";
import { RealtimeClient, silence } from "../support/service/realtime-client.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";

let service: Service;
beforeAll(async () => {
  service = await startService({
    config: `
builtin_models: false
realtime: { speech_model: speaks, transcription_model: hears }
models:
  - { id: hears, task: transcription, deployments: [{ engine: scripted, replies: [{ text: "Hello." }] }] }
  - { id: speaks, task: speech, deployments: [{ engine: scripted, speech: {} }] }
  - { id: talks, task: chat, deployments: [{ engine: scripted, echo: true }] }
`,
  });
});
afterAll(() => service?.stop());

test.concurrent.each([...SOCKET_PATHS])("closes %s when its key is deleted", async (path) => {
  const admin = administrator(service);
  const [project] = (await admin.projects.list()).data;
  const created = await service.fetch(`/v1/organization/projects/${project?.id}/service_accounts`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: path }),
  });
  const account = (await created.json()) as { id: string; api_key: { value: string } };
  const client = await RealtimeClient.connect(service, {
    path: path.replace("/v1", ""),
    query: "model=talks",
    apiKey: account.api_key.value,
  });
  if (path === "/v1/realtime") {
    await client.next("session.created");
    client.sendAudio(silence(1));
  }
  expect(
    (await service.fetch("/v1/models", { headers: { authorization: `Bearer ${account.api_key.value}` } })).status,
  ).toBe(200);
  await admin.projects.serviceAccounts.delete(account.id, { project_id: project?.id ?? "" });
  expect((await client.next("error")).error).toMatchObject({ code: "invalid_api_key" });
  expect(await client.closed).toEqual({ code: 1008, reason: "invalid_api_key" });
});

test("ends a client secret, and the session that it opened, when its creator signs out of the console", async () => {
  const headers = { "sec-fetch-site": "same-origin", "content-type": "application/json" };
  const send = (method: string, path: string, cookie = "", body: object = {}) =>
    fetch(`${service.origin}${path}`, { method, headers: { ...headers, cookie }, body: JSON.stringify(body) });
  const signedIn = await send("POST", "/console/session", "", { key: service.apiKey });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0];
  const created = await send("POST", "/v1/realtime/client_secrets", cookie);
  const { value: apiKey } = (await created.json()) as { value: string };
  const client = await RealtimeClient.connect(service, { query: "model=talks", apiKey });
  await client.next("session.created");
  expect((await send("DELETE", "/console/session", cookie)).ok).toBe(true);
  expect((await client.next("error")).error).toMatchObject({ code: "invalid_api_key" });
  expect(await client.closed).toEqual({ code: 1008, reason: "invalid_api_key" });
  const again = await RealtimeClient.connect(service, { query: "model=talks", apiKey }).catch((error) => error);
  expect(String(again)).toContain("401");
});
