/** Usage of tools that the service runs, with the official client of administrators. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type InProcessService, startService } from "../support/service/service.ts";

const engine = createServer((_request, response) => {
  const results = [{ url: "https://example.com/", title: "Page", content: "Otters." }];
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ results }));
});
let service: InProcessService;
let client: OpenAI;
let admin: OpenAI.Admin.Organization;
beforeAll(async () => {
  await new Promise<void>((resolve) => engine.listen(0, "127.0.0.1", resolve));
  service = await startService({
    config: `
web_search: { engine: endpoint, url: "http://127.0.0.1:${(engine.address() as AddressInfo).port}" }
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "Otters", text: "Otters 【w1】." }
          - { match: "search", tool_calls: [{ name: web_search, arguments: { query: otters } }] }
          - { text: "Nothing." }
`,
  });
  client = new OpenAI({
    apiKey: service.apiKey,
    adminAPIKey: service.adminKey,
    baseURL: service.baseUrl,
    maxRetries: 0,
  });
  admin = client.admin.organization;
});
afterAll(async () => {
  await service?.stop();
  engine.closeAllConnections();
  engine.close();
});

const start_time = Math.floor(Date.now() / 86_400_000) * 86_400;
const tools = [{ type: "web_search" as const }];

test("counts searches of the web, by project, key and user, and no other tool's", async () => {
  for (let index = 0; index < 2; index += 1) {
    const { output_text } = await client.responses.create({ model: "agent", input: "search", tools });
    expect(output_text).toContain("Otters");
  }
  await client.responses.create({ model: "agent", input: "Hello", tools });
  const read = async () => {
    const page = await admin.usage.webSearchCalls({ start_time, group_by: ["project_id", "user_id"] });
    return page.data.flatMap(({ results }) => results);
  };
  // Requests are counted after their answers.
  await expect.poll(read).toMatchObject([{ num_requests: 2 }]);
  const [project] = (await admin.projects.list()).data;
  expect(await read()).toMatchObject([
    {
      object: "organization.usage.web_searches.result",
      num_requests: 2,
      num_model_requests: 2,
      project_id: project?.id,
    },
  ]);
  for (const kind of ["fileSearchCalls", "codeInterpreterSessions"] as const) {
    const page = await admin.usage[kind]({ start_time });
    expect(page.data.flatMap(({ results }) => results)).toEqual([]);
  }
  const others = await admin.usage.webSearchCalls({ start_time, project_ids: ["proj_none"] });
  expect(others.data.flatMap(({ results }) => results)).toEqual([]);
});

test("names what searches cannot be grouped or filtered by", async () => {
  const byModel = admin.usage.webSearchCalls({ start_time, group_by: ["model"] });
  await expect(byModel).rejects.toMatchObject({ status: 400, param: "group_by[0]" });
  const ofModels = admin.usage.webSearchCalls({ start_time, models: ["agent"] });
  await expect(ofModels).rejects.toMatchObject({ status: 400, param: "models" });
});
