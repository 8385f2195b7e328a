/** Start, reload and stop of the service. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { parseEvents } from "../../src/kernel/server-sent-events.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ProcessOptions, type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

let service: ServiceProcess | undefined;
afterEach(() => service?.stop());

async function start(options: ProcessOptions): Promise<ServiceProcess> {
  service = await startServiceProcess(options);
  return service;
}

function config(id: string, millisecondsPerToken: number, drainSeconds = 20): string {
  return `
builtin_models: false
server: { drain_seconds: ${drainSeconds} }
models:
  - id: ${id}
    task: chat
    deployments: [{ engine: scripted, replies: [{ text: "${"word ".repeat(100)}", delay_ms_per_token: ${millisecondsPerToken} }] }]
`;
}

const messages = [{ role: "user", content: "Go." }];

test("finishes running requests, rejects new ones and exits 0 on SIGTERM", async () => {
  const { post, process, fetch } = await start({ config: config("steady", 10) });
  const response = await post("/v1/chat/completions", { model: "steady", messages, stream: true });
  process.kill("SIGTERM");
  await eventually(async () => {
    const answer = await fetch("/health/live").then(
      ({ status }) => status,
      () => "no connection",
    );
    expect(answer).not.toBe(200);
  });
  expect(await response.text()).toMatch(/data: \[DONE\]\n\n$/);
  expect(await service?.stop()).toBe(0);
});

test("keeps draining requests running on SIGHUP", async () => {
  const { post, process, log } = await start({ config: config("steady", 10) });
  const response = await post("/v1/chat/completions", { model: "steady", messages, stream: true });
  process.kill("SIGTERM");
  await eventually(() => expect(log()).toContainEqual(expect.objectContaining({ msg: "stopping" })));
  process.kill("SIGHUP");
  expect(await response.text()).toMatch(/data: \[DONE\]\n\n$/);
  expect(await service?.stop()).toBe(0);
});

test("ends running streams with an error frame at the drain deadline", async () => {
  const { post, process } = await start({ config: config("endless", 1000, 1) });
  const response = await post("/v1/chat/completions", { model: "endless", messages, stream: true });
  process.kill("SIGTERM");
  const text = await response.text();
  expect(text).not.toContain("[DONE]");
  const last = JSON.parse(parseEvents(text).at(-1)?.data ?? "");
  expect(last.error).toMatchObject({ type: "service_unavailable_error", param: null });
  expect(await service?.stop()).toBe(0);
});

test("reloads the catalog on SIGHUP without dropping a request, and rejects an invalid one", async () => {
  const { post, fetch, process, configFile, log } = await start({ config: config("old", 10) });
  const running = await post("/v1/chat/completions", { model: "old", messages, stream: true });
  await writeFile(configFile, config("new", 0));
  process.kill("SIGHUP");
  await eventually(async () => expect((await fetch("/v1/models/new")).status).toBe(200));
  expect((await fetch("/v1/models/old")).status).toBe(404);
  expect(await running.text()).toMatch(/data: \[DONE\]\n\n$/);

  await writeFile(configFile, "models: [{ id: broken }]");
  process.kill("SIGHUP");
  await eventually(() =>
    expect(log()).toContainEqual(
      expect.objectContaining({ level: "error", fault: expect.stringContaining("models[0]") }),
    ),
  );
  expect((await fetch("/v1/models/new")).status).toBe(200);
});

// Only Linux has a device that is always full.
test.skipIf(process.platform !== "linux").each(["stdout", "stderr"] as const)(
  "serves and ends in order when %s is on a full disk",
  async (full) => {
    const { post } = await start({ config: config("steady", 0), full });
    // Each log line is another failed write.
    for (let request = 0; request < 3; request += 1) {
      expect((await post("/v1/chat/completions", { model: "steady", messages })).status).toBe(200);
      expect((await post("/v1/chat/completions", { model: "no-such-model", messages })).status).toBe(404);
    }
    expect(await service?.stop()).toBe(0);
  },
);

test("reports a port in use and exits 1", async () => {
  const { origin } = await start({ config: config("first", 0) });
  const taken = new URL(origin).port;
  await expect(startServiceProcess({ environment: { PARLANCE_PORT: taken } })).rejects.toThrow(
    /ended with 1:.*in use/s,
  );
});

test.each(["uploads", "parlance.sqlite"])(
  "names the path of a data directory whose %s cannot be used",
  async (name) => {
    const data = await mkdtemp(join(tmpdir(), "parlance-data-"));
    if (name === "uploads") {
      await writeFile(join(data, name), "");
      const failed = startServiceProcess({ environment: { PARLANCE_DATA_DIR: data } });
      await expect(failed).rejects.toThrow(
        /ended with 1:.*error: The data directory cannot be used: .*uploads.*EEXIST/s,
      );
    } else {
      await writeFile(join(data, name), "not a database, but long enough to be taken for one ".repeat(20));
      const { fetch, log } = await start({ environment: { PARLANCE_DATA_DIR: data }, until: "listening" });
      // The log reports the reason without any request.
      expect((await fetch("/health/ready")).status).toBe(503);
      const error = expect.stringMatching(/parlance\.sqlite: file is not a database/);
      await eventually(() => expect(log()).toContainEqual(expect.objectContaining({ level: "error", error })));
      expect(await service?.stop()).toBe(0);
    }
    await rm(data, { recursive: true });
  },
);

test("is ready once all models answer, and names those that do not", async () => {
  const { origin, adminKey } = await start({ config: config("one", 0) });
  const ready = await fetch(`${origin}/health/ready`, { headers: { authorization: `Bearer ${adminKey}` } });
  expect(await ready.json()).toMatchObject({
    status: "ready",
    database: { state: "up" },
    models: [{ id: "one", engine: "scripted", state: "up" }],
  });
  expect(await (await fetch(`${origin}/health/live`)).json()).toEqual({ status: "live" });
});
