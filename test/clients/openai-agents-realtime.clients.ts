/** The JavaScript SDK of openai-agents talks in a voice session over a WebSocket, with its defaults. */

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { NPM_CLIENT_VERSIONS } from "./npm-client-versions.ts";
import { installNpmClient } from "./npm-clients.ts";
import { reportChecks } from "./report-checks.ts";

const CLIENT = "@openai/agents-realtime";

const config = `
builtin_models: false
models:
  - id: hears
    task: transcription
    aliases: [gpt-4o-mini-transcribe]
    deployments: [{ engine: scripted, replies: [{ text: "How is the weather?" }] }]
  - { id: speaks, task: speech, deployments: [{ engine: scripted, speech: {} }] }
  - id: talks
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "18 degrees", text: "It is 18 degrees in Paris." }
          - { match: weather, tool_calls: [{ name: get_weather, arguments: { city: Paris } }] }
          - { text: "Good day. How are you?" }
`;

// biome-ignore lint/suspicious/noExplicitAny: the package is installed when the test runs.
let sdk: any;
let service: ServiceProcess;
beforeAll(async () => {
  const [started, command] = await Promise.all([
    startServiceProcess({ config }),
    installNpmClient(CLIENT, NPM_CLIENT_VERSIONS[CLIENT], "none"),
  ]);
  service = started;
  sdk = await import(pathToFileURL(createRequire(command).resolve(CLIENT)).href);
});
afterAll(() => service?.stop());

reportChecks(() => NPM_CLIENT_VERSIONS[CLIENT]);

/** Connects a session that asks for `gpt-realtime`, and keeps the bytes of audio that it plays. */
async function connect(tools: unknown[] = []) {
  const agent = new sdk.RealtimeAgent({ name: "Assistant", instructions: "Be brief.", tools });
  const session = new sdk.RealtimeSession(agent, { transport: "websocket" });
  const heard = { bytes: 0, errors: [] as unknown[] };
  session.on("audio", ({ data }: { data: ArrayBuffer }) => {
    heard.bytes += data.byteLength;
  });
  session.on("error", (error: unknown) => heard.errors.push(error));
  const url = `${service.baseUrl.replace("http:", "ws:")}/realtime?model=gpt-realtime`;
  await session.connect({ apiKey: service.apiKey, url });
  return { session, heard, history: () => JSON.stringify(session.history) };
}

describe(CLIENT, () => {
  test("speaks an answer", async () => {
    const { session, heard, history } = await connect();
    session.sendMessage("Hi!");
    await eventually(() => expect(history()).toContain("Good day. How are you?"));
    await eventually(() => expect(heard.bytes).toBeGreaterThan(24_000));
    expect(heard.errors).toEqual([]);
    session.close();
  });

  test("calls a tool and continues", async () => {
    const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const getWeather = sdk.tool({
      name: "get_weather",
      description: "Current weather of a city.",
      parameters: { ...parameters, additionalProperties: false },
      strict: true,
      execute: async ({ city }: { city: string }) => `18 degrees in ${city}`,
    });
    const { session, heard, history } = await connect([getWeather]);
    session.sendMessage("How is the weather?");
    await eventually(() => expect(history()).toContain("It is 18 degrees in Paris."));
    expect(heard.errors).toEqual([]);
    session.close();
  });
});
