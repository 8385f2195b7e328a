/** Chats that search the web, in both formats, in a service with several workers. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const PAGE = { url: "https://tides.example/", title: "Tides", content: "A spring tide follows the new moon." };
const engine = createServer((_request, response) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ results: [PAGE] }));
});

let upstream: ServiceProcess;
let service: ServiceProcess;
beforeAll(async () => {
  await new Promise<void>((listening) => engine.listen(0, "127.0.0.1", listening));
  const { port } = engine.address() as AddressInfo;
  upstream = await startServiceProcess({
    config: `
builtin_models: false
models:
  - id: inner
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: new moon, text: After the new moon【w1】. }
          - { match: tide, tool_calls: [{ name: web_search, arguments: { query: spring tide } }] }
`,
  });
  service = await startServiceProcess({
    config: `
builtin_models: false
server: { workers: 2 }
web_search: { engine: endpoint, url: "http://127.0.0.1:${port}" }
models:
  - { id: far, task: chat, deployments: [${deploymentAt(upstream, "inner")}] }
`,
  });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.stop();
  engine.close();
});

test("are answered by the owner, which has the search engine", async () => {
  for (let request = 0; request < 4; request += 1) {
    const messages = [{ role: "user", content: "When is the tide high?" }];
    const body = { model: "far", messages, web_search_options: {} };
    const answer = await service.post("/v1/chat/completions", body, { headers: { connection: "close" } });
    const { choices } = (await answer.json()) as { choices: unknown };
    expect(choices).toMatchObject([{ message: { content: "After the new moon【w1】.", annotations: [{}] } }]);
  }
});

test("with a server tool of Messages are answered by the owner, too", async () => {
  for (let request = 0; request < 4; request += 1) {
    const messages = [{ role: "user", content: "When is the tide high?" }];
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    const body = { model: "far", max_tokens: 100, messages, tools };
    const answer = await service.post("/v1/messages", body, { headers: { connection: "close" } });
    expect(await answer.json()).toMatchObject({ stop_reason: "end_turn", usage: { server_tool_use: {} } });
  }
});
