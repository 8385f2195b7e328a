/** How a project's words are spoken, whatever speaks them. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { parseEvents } from "../../src/kernel/server-sent-events.ts";
import { type EchoUpstream, startEchoUpstream } from "../support/guardrails/echo-upstream.ts";
import { type InProcessService, startService } from "../support/service/service.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

let upstream: EchoUpstream;
let service: InProcessService;
let path: string;
let apiKey: string;
beforeAll(async () => {
  upstream = await startEchoUpstream();
  service = await startService({
    config: `
builtin_models: false
guardrails: [{ type: pii, unreadable: pass }]
models:
  - id: voice
    task: speech
    deployments: [${deploymentAt(upstream, "tts")}]
  - id: hum
    task: speech
    deployments: [{ engine: scripted, speech: {} }]
`,
  });
  const { json } = await administer("POST", "/v1/organization/projects", { name: "Team" });
  path = `/v1/organization/projects/${json.id}`;
  const account = await administer("POST", `${path}/service_accounts`, { name: "App" });
  apiKey = account.json.api_key.value;
});
afterAll(async () => {
  await service?.stop();
  await upstream?.[Symbol.asyncDispose]();
});

async function administer(method: "GET" | "POST", url: string, payload?: object) {
  const headers = { authorization: `Bearer ${service.adminKey}` };
  const answer = await service.inject({ method, url, headers, ...(payload && { payload }) });
  return { status: answer.statusCode, json: answer.json() };
}

const set = (data: unknown) => administer("POST", `${path}/pronunciations`, { data } as object);

async function spoken(input: string): Promise<string> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const payload = { model: "voice", voice: "alloy", input };
  await service.inject({ method: "POST", url: "/v1/audio/speech", headers, payload });
  return inputOf(upstream.take());
}

/** `received`: the path, then the body. */
function inputOf(received: string): string {
  return JSON.parse(received.slice(received.indexOf("{"))).input;
}

test("speaks the words of the project as it says, from the next request on", async () => {
  expect(await spoken("Łódź has no beach.")).toBe("Łódź has no beach.");
  const words = [
    { text: "Łódź", spoken: "Woodge" },
    { text: "beach", spoken: "plage" },
  ];
  expect(await set(words)).toEqual({ status: 200, json: { object: "list", data: words } });
  expect((await administer("GET", `${path}/pronunciations`)).json.data).toEqual(words);
  expect(await spoken("łódź has no Beach.")).toBe("Woodge has no plage.");
  // Words do not undo what guardrails mask.
  expect(await spoken("Łódź: ada.lovelace@example.com")).toMatch(/^Woodge: \W?EMAIL_ADDRESS_1/);
  await set([]);
  expect(await spoken("Łódź")).toBe("Łódź");
});

test("times the words that are written, not what stands for them", async () => {
  await set([
    { text: "nginx", spoken: "engine X" },
    { text: "New York", spoken: "Noo Yawk" },
  ]);
  const headers = { authorization: `Bearer ${apiKey}` };
  const input = "Ask Nginx, in New York & here.";
  const timed = { model: "hum", voice: "alloy", stream_format: "sse", timestamp_granularities: ["word"] };
  const wordsOf = async (text: string) => {
    const payload = { ...timed, input: text };
    const { body } = await service.inject({ method: "POST", url: "/v1/audio/speech", headers, payload });
    const events = parseEvents(body).map(({ data }) => JSON.parse(data));
    return events.flatMap((event) => (event.words ?? []).map(({ word }: { word: string }) => word));
  };
  expect(await wordsOf(input)).toEqual(["Ask", "Nginx,", "in", "New York", "&", "here."]);
  expect(await wordsOf(`<speak>Ask Nginx, in <emphasis>New York</emphasis> &amp; here.</speak>`)).toEqual([
    "Ask",
    "Nginx,",
    "in",
    "New York",
    "&",
    "here.",
  ]);
  await set([]);
});

test("speaks words with signs and with capitals of other alphabets", async () => {
  const words = [
    { text: "GPT-4", spoken: "gee pee tee four" },
    { text: "İzmir", spoken: "Izmeer" },
  ];
  expect((await set(words)).status).toBe(200);
  expect(await spoken("gpt-4 in İzmir")).toBe("gee pee tee four in Izmeer");
  expect((await administer("GET", `${path}/pronunciations`)).json.data).toEqual(words);
  await set([]);
});

test("refuses entries by their field, and leaves other projects alone", async () => {
  const refused: [unknown, string][] = [
    [undefined, "data"],
    [[{ text: "a" }], "data[0].spoken"],
    [[{ text: " ", spoken: "b" }], "data[0].text"],
    [
      [
        { text: "a", spoken: "b" },
        { text: "A", spoken: "c" },
      ],
      "data[1].text",
    ],
    [[{ text: "a", spoken: "b", ipa: "c" }], "data[0].ipa"],
    [Array.from({ length: 501 }, (_, index) => ({ text: `${index}`, spoken: "b" })), "data"],
    [Array.from({ length: 33_000 }, (_, index) => ({ text: `${index}`, spoken: "b" })), "data"],
  ];
  for (const [data, param] of refused) {
    const { status, json } = await set(data);
    expect([status, json.error.param]).toEqual([400, param]);
  }
  await set([{ text: "Bonn", spoken: "Bon" }]);
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const payload = { model: "voice", voice: "alloy", input: "Bonn" };
  await service.inject({ method: "POST", url: "/v1/audio/speech", headers, payload });
  expect(inputOf(upstream.take())).toBe("Bonn");
});
