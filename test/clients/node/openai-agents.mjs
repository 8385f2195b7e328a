import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import { z } from "zod";
import { API_KEY, assert, BASE_URL, getWeather, run, TOOLS_MODEL } from "./common.mjs";

setTracingDisabled(true);
const weather = tool({
  name: "get_weather",
  description: "Current weather of a city.",
  parameters: z.object({ city: z.string() }),
  execute: getWeather,
});
const agent = new Agent({ name: "helper", instructions: "Help.", model: TOOLS_MODEL, tools: [weather] });

async function answer(useResponses) {
  const modelProvider = new OpenAIProvider({ baseURL: BASE_URL, apiKey: API_KEY, useResponses });
  const { finalOutput } = await new Runner({ modelProvider }).run(agent, "How is the weather in Paris?");
  assert(finalOutput.includes("18 degrees"), finalOutput);
}

await run("@openai/agents", {
  "calls a tool by Responses": () => answer(true),
  "calls a tool by chat completions": () => answer(false),
});
