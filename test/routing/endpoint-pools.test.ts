/** Deployments whose endpoints come and go: from the DNS and from a file, while requests run. */

import { rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedChat } from "../../src/engines/scripted/scripted-chat.ts";
import { scriptedSettings } from "../../src/engines/scripted/settings.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";
import { aRecords, type DnsServer, startDnsServer } from "../support/upstreams/dns-server.ts";
import {
  type OpenAiUpstream,
  type OpenAiUpstreamOptions,
  startOpenAiUpstream,
} from "../support/upstreams/openai-upstream.ts";
import { metric } from "../support/upstreams/routed-faults.ts";

const NAME = "vllm.pool.test";
const WORDS = Array.from({ length: 40 }, (_each, index) => `word${index}`).join(" ");

let dns: DnsServer;
let upstreams: OpenAiUpstream[];
let service: Service;
let directory: TemporaryDirectory;
let file: string;

/** An upstream whose streams take about a second. */
function startUpstream(options: OpenAiUpstreamOptions): Promise<OpenAiUpstream> {
  const replies = [{ match: "slowly", text: WORDS, delay_ms_per_token: 25 }, { text: "At once." }];
  return startOpenAiUpstream(new ScriptedChat(scriptedSettings.parse({ replies })), options);
}

beforeAll(async () => {
  dns = await startDnsServer();
  const first = await startUpstream({ models: ["small", "large"] });
  const { port } = first;
  const others = ["127.0.0.2", "127.0.0.3"].map((host) => startUpstream({ host, port, models: ["small"] }));
  upstreams = [first, ...(await Promise.all(others))];
  dns.records.set(NAME, aRecords(NAME, ["127.0.0.1", "127.0.0.2"]));
  directory = await temporaryDirectory();
  file = join(directory.path, "endpoints.yaml");
  await writeFile(file, `- 127.0.0.1:${port}\n`);
  const base = `engine: openai-compatible, base_url: "http://pool.test:${port}/v1"`;
  const fromDns = `endpoints: { dns: ${NAME}, nameservers: ["${dns.address}"], refresh_seconds: 1 }`;
  const fromFile = `endpoints: { file: "${file}", refresh_seconds: 0.1 }`;
  service = await startService({
    config: `
builtin_models: false
models:
  - { id: by-dns, task: chat, strategy: least_busy, deployments: [{ ${base}, ${fromDns} }] }
  - { id: by-file, task: chat, strategy: least_busy, deployments: [{ ${base}, ${fromFile} }] }
  - { id: queued, task: chat, strategy: least_busy, deployments: [{ ${base}, ${fromFile}, max_concurrency: 1 }] }
  - { id: pool/*, task: chat, strategy: least_busy, deployments: [{ ${base}, ${fromFile} }] }
`,
  });
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([dns?.close(), ...(upstreams ?? []).map((each) => each.close())]);
  await directory?.[Symbol.asyncDispose]();
});

const port = () => upstreams[0]?.port ?? 0;

async function replaceFile(text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

const listed = (...hosts: string[]) => JSON.stringify(hosts.map((host) => `${host}:${port()}`));

async function ask(model: string, content = "Hello"): Promise<{ status: number; deployment: string; text: string }> {
  const response = await service.post("/v1/chat/completions", { model, messages: [{ role: "user", content }] });
  const body = (await response.json()) as { choices?: { message: { content: string } }[]; error?: { code: string } };
  const text = body.choices?.[0]?.message.content ?? body.error?.code ?? "";
  return { status: response.status, deployment: response.headers.get("x-parlance-deployment") ?? "", text };
}

/** Hosts that answer a number of concurrent requests. */
async function hostsOf(model: string, requests = 24): Promise<string[]> {
  const before = upstreams.map(({ received }) => received.length);
  const answers = await Promise.all(Array.from({ length: requests }, () => ask(model)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  return upstreams.flatMap(({ received, baseUrl }, index) =>
    received.length > (before[index] ?? 0) ? [new URL(baseUrl).hostname] : [],
  );
}

interface Health {
  models: { deployment: string; state: string }[];
  pools: { deployment: string; state: string; endpoints: number; source: string; reason?: string }[];
}

async function health(): Promise<Health> {
  const headers = { authorization: `Bearer ${service.adminKey}` };
  return (await (await service.fetch("/health/ready", { headers })).json()) as Health;
}

async function poolOf(deployment: string): Promise<Health["pools"][number] | undefined> {
  return (await health()).pools.find((each) => each.deployment === deployment);
}

/** Reads a stream to its end; calls `onText` for each text. */
async function stream(model: string, onText: (text: string) => void): Promise<string> {
  const chunks = await service.client().chat.completions.create({
    model,
    stream: true,
    messages: [{ role: "user", content: "slowly" }],
  });
  let text = "";
  for await (const chunk of chunks) {
    text += chunk.choices[0]?.delta.content ?? "";
    onText(text);
  }
  return text;
}

describe("endpoints from the DNS", () => {
  test("joins and leaves with the name's records", async () => {
    await eventually(async () => {
      expect(await hostsOf("by-dns")).toEqual(["127.0.0.1", "127.0.0.2"]);
    });
    dns.records.set(NAME, aRecords(NAME, ["127.0.0.3", "127.0.0.1"]));
    await eventually(async () => {
      expect(await hostsOf("by-dns")).toEqual(["127.0.0.1", "127.0.0.3"]);
    });
  });

  test("keeps the endpoints while the name server fails", async () => {
    const before = await hostsOf("by-dns");
    dns.failure = "SERVFAIL";
    await eventually(() => {
      expect(service.log().some(({ reason }) => String(reason).includes("ESERVFAIL"))).toBe(true);
    });
    expect(await hostsOf("by-dns")).toEqual(before);
    expect(await poolOf("by-dns")).toMatchObject({
      state: "stale",
      endpoints: 2,
      reason: expect.stringContaining(NAME),
    });
    dns.failure = undefined;
    await eventually(async () => expect(await poolOf("by-dns")).toMatchObject({ state: "up", source: `A ${NAME}` }));
  });

  test("answers 503 while the name has no records", async () => {
    dns.records.delete(NAME);
    await eventually(async () => {
      expect(await ask("by-dns")).toMatchObject({ status: 503, text: "no_endpoints" });
    });
    expect(await poolOf("by-dns")).toMatchObject({ state: "empty", endpoints: 0 });
    expect(await metric(service, "parlance_endpoint_discovery_up", 'model="by-dns"')).toBe(0);
    dns.records.set(NAME, aRecords(NAME, ["127.0.0.2"]));
    await eventually(async () => {
      expect(await hostsOf("by-dns")).toEqual(["127.0.0.2"]);
    });
  });
});

describe("endpoints from a file", () => {
  test("are deployments, whose addresses clients do not see", async () => {
    const { models } = await health();
    expect(models.map(({ deployment }) => deployment)).toContain(`by-file@127.0.0.1:${port()}`);
    expect(await metric(service, "parlance_endpoints", 'model="by-file"')).toBe(1);
    expect((await ask("by-file")).deployment).toBe("by-file");
    await eventually(() => {
      expect(service.log().map(({ deployment }) => deployment)).toContain(`by-file@127.0.0.1:${port()}`);
    });
    expect(upstreams[0]?.received.at(-1)?.headers.host).toBe(`pool.test:${port()}`);
  });

  test("list the models of the endpoints that are there", async () => {
    const ids = async () =>
      (await service.client().models.list()).data.map(({ id }) => id).filter((id) => /^pool.[^*]/.test(id));
    await eventually(async () => expect(await ids()).toEqual(["pool/large", "pool/small"]));
    await replaceFile(listed("127.0.0.2"));
    await eventually(async () => expect(await ids()).toEqual(["pool/small"]));
    await replaceFile(listed("127.0.0.1", "127.0.0.2"));
    await eventually(async () => expect(await ids()).toEqual(["pool/large", "pool/small"]));
  });

  test("follows a file that is replaced", async () => {
    await replaceFile(listed("127.0.0.2", "127.0.0.3"));
    await eventually(async () => {
      expect(await hostsOf("by-file")).toEqual(["127.0.0.2", "127.0.0.3"]);
    });
  });

  test("finishes a stream of an endpoint that leaves", async () => {
    await replaceFile(listed("127.0.0.2"));
    await eventually(async () => expect(await hostsOf("by-file", 4)).toEqual(["127.0.0.2"]));
    let replaced: Promise<void> | undefined;
    const text = await stream("by-file", () => {
      replaced ??= replaceFile(listed("127.0.0.3"));
    });
    await replaced;
    expect(text).toBe(WORDS);
    expect(await hostsOf("by-file")).toEqual(["127.0.0.3"]);
  });

  test("moves waiting requests to the endpoints that stay", async () => {
    await replaceFile(listed("127.0.0.1", "127.0.0.2"));
    await eventually(async () => {
      expect(await hostsOf("queued")).toEqual(["127.0.0.1", "127.0.0.2"]);
    });
    const running = [stream("queued", () => {}), stream("queued", () => {})];
    await eventually(async () => expect(await metric(service, "parlance_slots_in_use", 'model="queued"')).toBe(2));
    const waiting = Array.from({ length: 6 }, () => ask("queued"));
    const leaving = `queued@127.0.0.2:${port()}`;
    await eventually(async () => expect(await metric(service, "parlance_queue_length", leaving)).toBeGreaterThan(0));
    await replaceFile(listed("127.0.0.1"));
    expect(await Promise.all(running)).toEqual([WORDS, WORDS]);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(6).fill(200));
  });

  test("moves waiting requests to endpoints that have joined meanwhile", async () => {
    await replaceFile(listed("127.0.0.1"));
    await eventually(async () => expect((await poolOf("queued"))?.endpoints).toBe(1));
    await eventually(async () => expect(await hostsOf("queued", 4)).toEqual(["127.0.0.1"]));
    const running = stream("queued", () => {});
    await eventually(async () => expect(await metric(service, "parlance_slots_in_use", 'model="queued"')).toBe(1));
    const waiting = Array.from({ length: 6 }, () => ask("queued"));
    await eventually(async () => expect(await metric(service, "parlance_queue_length", "queued@")).toBe(6));
    await replaceFile(listed("127.0.0.3"));
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(await running).toBe(WORDS);
  });

  test.each([
    ["truncated", () => truncate(file, 0)],
    ["deleted", () => rm(file)],
    ["broken", () => replaceFile("[127.0.0.1:8000, ")],
    ["of the wrong kind", () => replaceFile("a: b")],
    ["with a URL", () => replaceFile("[http://127.0.0.1/v1]")],
  ])("keeps the endpoints of a file that is %s", async (_name, breakFile) => {
    await replaceFile(listed("127.0.0.1", "127.0.0.3"));
    const expected = ["127.0.0.1", "127.0.0.3"];
    await eventually(async () => expect(await hostsOf("by-file")).toEqual(expected));
    const warnings = () => service.log().filter(({ msg }) => String(msg).startsWith("cannot look up")).length;
    const before = warnings();
    await breakFile();
    await eventually(() => expect(warnings()).toBeGreaterThan(before));
    expect(await hostsOf("by-file")).toEqual(expected);
    expect(await poolOf("by-file")).toMatchObject({
      state: "stale",
      endpoints: 2,
      reason: expect.stringContaining(file),
    });
  });
});
