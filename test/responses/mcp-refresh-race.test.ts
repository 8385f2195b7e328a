/** Two replicas that refresh the same account at once, whose refresh tokens work once only. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { sharedPostgres } from "../support/databases/postgres.ts";
import { ProtectedMcpServer } from "../support/mcp/protected-mcp-server.ts";
import { BrowserJar } from "../support/service/browser-jar.ts";
import { type Service, startService } from "../support/service/service.ts";

const ROUNDS = 5;
const CALLS = 4;

let upstream: ProtectedMcpServer;
const replicas: Service[] = [];
beforeAll(async () => {
  upstream = await ProtectedMcpServer.start();
  const environment = {
    DATABASE_URL: (await (await sharedPostgres()).createDatabase()).reveal(),
    PARLANCE_ENCRYPTION_KEY: "e".repeat(32),
  };
  const config = `builtin_models: false\nmcp_servers: [{ name: wiki, url: "${upstream.url}", oauth: {} }]\n`;
  replicas.push(await startService({ config, environment }));
  replicas.push(await startService({ config, environment }));
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await upstream?.[Symbol.asyncDispose]();
});

test("uses each refresh token once, and no call loses the account", async () => {
  const [first] = replicas as [Service, Service];
  // Each call refreshes, because the token ends soon.
  upstream.tokenSeconds = 30;
  const browser = new BrowserJar();
  const headers = { authorization: `Bearer ${first.apiKey}` };
  const path = `${first.origin}/v1/mcp_servers/wiki/connection`;
  const begun = await browser.fetch(path, { method: "POST", headers });
  await browser.open(((await begun.json()) as { authorization_url: string }).authorization_url);

  const whoami = async (replica: Service) => {
    const answer = await replica.post("/v1/mcp_servers/wiki/calls", { name: "whoami" });
    return { status: answer.status, body: await answer.json() };
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const calls = replicas.flatMap((replica) => Array.from({ length: CALLS }, () => whoami(replica)));
    for (const { status, body } of await Promise.all(calls)) {
      expect(body).toMatchObject({ content: [{ text: "you are alice" }] });
      expect(status).toBe(200);
    }
  }
  const used = upstream.tokenRequests("refresh_token").map((body) => body.get("refresh_token"));
  expect(used.length).toBeGreaterThanOrEqual(ROUNDS);
  expect(new Set(used).size).toBe(used.length);
  for (const replica of replicas) {
    const state = await replica.fetch("/v1/mcp_servers/wiki/connection", { headers });
    expect(await state.json()).toMatchObject({ status: "connected", owner: { type: "project" } });
  }
});
