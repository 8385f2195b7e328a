/** The tool runner of Anthropic's JavaScript SDK, with its defaults: it begins with a thread. */

import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Service } from "../support/service/service.ts";
import { nodeClientVersion } from "./node-client-version.ts";
import { reportChecks } from "./report-checks.ts";
import { startClientsService, TOOLS_MODEL } from "./start-clients-service.ts";

let service: Service;
beforeAll(async () => {
  service = await startClientsService();
});
afterAll(() => service?.stop());
reportChecks(nodeClientVersion);

const cities: string[] = [];
const getWeather = betaTool({
  name: "get_weather",
  description: "Current weather of a city.",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  run: async ({ city }) => {
    cities.push(city);
    return `18 degrees in ${city}`;
  },
});

describe("@anthropic-ai/sdk (Node)", () => {
  test.each([
    ["runs a tool and answers", false],
    ["runs a tool in a stream", true],
  ])("%s", async (_check, stream) => {
    const client = new Anthropic({ baseURL: service.origin, apiKey: service.apiKey, maxRetries: 0 });
    const runner = client.beta.messages.toolRunner({
      model: TOOLS_MODEL,
      max_tokens: 500,
      stream,
      tools: [getWeather],
      messages: [{ role: "user", content: "How is the weather in Paris?" }],
    });
    const message = await runner.runUntilDone();
    expect(message.content).toMatchObject([{ type: "text", text: "It is 18 degrees in Paris." }]);
    expect(cities.splice(0)).toEqual(["Paris"]);
  });
});
