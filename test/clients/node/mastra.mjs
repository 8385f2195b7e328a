import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { API_KEY, assert, BASE_URL, getWeather, run, TOOLS_MODEL } from "./common.mjs";

const weather = createTool({
  id: "get_weather",
  description: "Current weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async (input) => getWeather(input.context ?? input),
});

const agentWith = (model) =>
  new Agent({ id: "helper", name: "helper", instructions: "Help.", model, tools: { get_weather: weather } });

await run("@mastra/core", {
  "calls a tool and answers as an agent": async () => {
    const parlance = createOpenAICompatible({ name: "parlance", baseURL: BASE_URL, apiKey: API_KEY });
    const { text } = await agentWith(parlance(TOOLS_MODEL)).generate("How is the weather in Paris?");
    assert(text.includes("18 degrees"), text);
  },
  "streams with its own router": async () => {
    const agent = agentWith({ id: `parlance/${TOOLS_MODEL}`, url: BASE_URL, apiKey: API_KEY });
    const stream = await agent.stream("How is the weather in Paris?");
    const text = await stream.text;
    assert(text.includes("18 degrees"), text);
  },
});
