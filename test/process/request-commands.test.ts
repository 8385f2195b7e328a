/** Commands that show what a service does. */

import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WEBHOOK_SECRET } from "../support/observability/webhook-receiver.ts";
import { cleanEnvironment } from "../support/service/clean-environment.ts";
import { eventually } from "../support/service/eventually.ts";
import { EXECUTABLE } from "../support/service/executable.ts";
import { runParlance } from "../support/service/run-parlance.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const configOf = (endpoint: string) => `
builtin_models: false
webhooks: [{ url: "${endpoint}", secret: "${WEBHOOK_SECRET}", events: [batch.completed] }]
models:
  - id: parrot
    task: chat
    price: { prompt: "0.001", completion: "0.01" }
    deployments: [{ engine: scripted, slots: 3, replies: [{ match: fail, fail_after_tokens: 0 }, { text: Squawk! }] }]
  - { id: owl, task: chat, deployments: [{ engine: scripted, echo: true }] }
`;

let service: ServiceProcess;
let endpoint: string;
let status = 200;
const receiver = createServer((request, response) => {
  request.resume();
  response.writeHead(status).end("noted");
});
beforeAll(async () => {
  await new Promise<void>((listening) => receiver.listen(0, "127.0.0.1", listening));
  endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  service = await startServiceProcess({ config: configOf(endpoint) });
  for (const [model, content] of [
    ["parrot", "Hello"],
    ["owl", "Hello"],
    ["parrot", "fail"],
  ]) {
    await service.post("/v1/chat/completions", { model, messages: [{ role: "user", content }] });
  }
  await eventually(async () => {
    const { stdout, stderr } = await parlance("requests", "--json");
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toHaveLength(3);
  });
});
afterAll(async () => {
  await service?.stop();
  receiver.close();
});

const environment = () => ({ PARLANCE_DATA_DIR: service.dataDirectory, PARLANCE_CONFIG: service.configFile });

function parlance(...words: string[]) {
  return runParlance(words, { cwd: service.dataDirectory, environment: environment() });
}

test("lists requests, the latest one last, with filters", async () => {
  const { stdout } = await parlance("requests");
  const lines = stdout.trim().split("\n");
  expect(lines[0]).toMatch(/^ENDED +MODEL +STATUS +MS +FIRST MS +TOKENS IN +TOKENS OUT +DOLLARS +ERROR +ID$/);
  expect(lines[1]).toMatch(/^\d{4}-\S+Z +parrot +200 +\d+ .*0\.0\d+ +req_\w+$/);
  expect(lines[2]).toMatch(/ owl +200 /);
  expect(lines[3]).toMatch(/ parrot +5\d\d /);
  const modelsOf = async (...words: string[]) =>
    JSON.parse((await parlance("requests", "--json", ...words)).stdout).map((each: { model: string }) => each.model);
  expect(await modelsOf("--model", "owl")).toEqual(["owl"]);
  expect(await modelsOf("--status", "failed", "--since", "1h")).toEqual(["parrot"]);
  expect(await modelsOf("--costlier-than", "0.001", "--project", "Default project")).toEqual(["parrot"]);
  expect(await modelsOf("--limit", "1")).toEqual(["parrot"]);
  expect(await modelsOf("--slower-than", "3600")).toEqual([]);
  for (const words of [
    ["--limit", "0"],
    ["--status", "odd"],
    ["--slower-than", "soon"],
  ])
    expect((await parlance("requests", ...words)).code).toBe(2);
});

test("shows one request with the stages of its failure", async () => {
  const [failed] = JSON.parse((await parlance("requests", "--json", "--status", "failed")).stdout);
  const { stdout } = await parlance("requests", failed.id);
  expect(stdout).toContain(failed.id);
  expect(stdout).toMatch(/^STAGE +DEPLOYMENT OR TOOL +BEGAN AFTER MS +MS +ERROR$/m);
  expect(stdout).toMatch(/^attempt +parrot /m);
  expect(await parlance("requests", "req_none")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("No request has the ID `req_none`"),
  });
});

test("follows new requests until Ctrl-C", async () => {
  const child = spawn(process.execPath, [EXECUTABLE, "requests", "--follow", "--model", "owl"], {
    env: { ...cleanEnvironment(), ...environment() },
  });
  const ended = new Promise((done) => child.once("exit", done));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  await expect.poll(() => lines).toHaveLength(1);
  for (const model of ["parrot", "owl"])
    await service.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "New" }] });
  await expect.poll(() => lines).toHaveLength(2);
  expect(lines[1]).toMatch(/^\d{4}-\S+Z +owl +200 /);
  // The columns of a row begin where the header's do.
  expect(lines[1]?.indexOf("200")).toBe(lines[0]?.indexOf("STATUS"));
  child.kill("SIGINT");
  expect(await ended).toBe(0);
});

test("status shows the last hour and each deployment", async () => {
  const { stdout, code } = await parlance("status");
  expect(stdout).toContain(`${service.origin} is ready`);
  expect(stdout).toMatch(/^Last hour: [34567] requests, 1 failed/m);
  expect(stdout).toMatch(/^parrot +chat +up .* 0\/3 +0$/m);
  expect(code).toBe(0);
  const { is_ready, url, deployments } = JSON.parse((await parlance("status", "--json")).stdout);
  expect({ is_ready, url }).toEqual({ is_ready: true, url: service.origin });
  expect(deployments).toHaveLength(2);
});

test("exports recorded requests for fine-tuning", async () => {
  const headers = { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" };
  const projects = await fetch(`${service.baseUrl}/organization/projects`, { headers });
  const { data } = (await projects.json()) as { data: { id: string }[] };
  const body = JSON.stringify({ record_content: "all" });
  const url = `${service.baseUrl}/organization/projects/${data[0]?.id}/recording`;
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
  await service.post("/v1/chat/completions", { model: "owl", messages: [{ role: "user", content: "Recorded." }] });
  const line = {
    messages: [
      { role: "user", content: "Recorded." },
      { role: "assistant", content: "Recorded." },
    ],
  };
  await eventually(async () => {
    const { stdout, stderr } = await parlance("requests", "export", "--model", "owl");
    expect(stderr).toBe("");
    expect(
      stdout
        .trim()
        .split("\n")
        .filter(Boolean)
        .map((text) => JSON.parse(text)),
    ).toEqual([line]);
  });
  const { stdout } = await parlance("requests", "export", "--format", "evals", "--project", "Default project");
  expect(JSON.parse(stdout)).toMatchObject({ item: { output: "Recorded.", score: null }, sample: { model: "owl" } });
  expect((await parlance("requests", "export", "--min-score", "0.5")).stdout).toBe("");
});

test("tests an endpoint of webhooks, lists its deliveries, and sends one again", async () => {
  status = 410;
  const failed = await parlance("webhooks", "test", endpoint);
  expect(failed.code).toBe(1);
  expect(failed.stdout).toMatch(/^DELIVERY .+\nwhd_\w+ .* webhook\.test +failed +410 +\d+ +1 +http.+ +noted$/m);
  const [, id = ""] = /^(whd_\w+)/m.exec(failed.stdout) ?? [];
  status = 200;
  const again = await parlance("webhooks", "retry", id, "--json");
  expect([again.code, JSON.parse(again.stdout)]).toEqual([0, expect.objectContaining({ id, state: "delivered" })]);
  const { stdout } = await parlance("webhooks", "deliveries", "--state", "delivered", "--endpoint", endpoint, "--json");
  expect(JSON.parse(stdout)).toMatchObject([{ id, status: 200, answer: "noted" }]);
  const list = await parlance("webhooks", "list");
  expect(list.stdout).toMatch(/^http:\S+ +1 +0 +0 +0 +\d{4}-\S+Z +batch\.completed$/m);
});

test.each([
  [["webhooks", "deliveries", "--state", "lost"], 2, "It must be one of delivered, retrying, failed."],
  [["webhooks", "deliveries", "--limit", "0"], 2, "It must be a number from 1 to 100."],
  [["webhooks", "test", "http://127.0.0.1:9/none"], 1, "No webhook endpoint has the URL"],
  [["webhooks", "retry", "whd_none"], 1, "No delivery found with id 'whd_none'."],
  [["webhooks", "list", "extra"], 2, "too many arguments"],
  [["chat", "owl", "--file", "none.txt"], 1, "none.txt cannot be read (ENOENT)."],
])("rejects %j", async (words, code, message) => {
  const answer = await parlance(...words);
  expect([answer.code, answer.stderr]).toEqual([code, expect.stringContaining(message)]);
});

test("sends files with a message of the chat", async () => {
  await writeFile(join(service.dataDirectory, "notes.txt"), "The code is 4711.");
  const { stdout } = await parlance("chat", "owl", "--file", "notes.txt");
  expect(stdout).toContain("The code is 4711.");
});
