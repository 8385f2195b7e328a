import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { API_KEY, assert, BASE_URL, getWeather, run, TOOLS_MODEL, withStore } from "./common.mjs";

const openai = createOpenAI({ baseURL: BASE_URL, apiKey: API_KEY });
const compatible = createOpenAICompatible({ name: "parlance", baseURL: BASE_URL, apiKey: API_KEY });
const weather = tool({
  description: "Current weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async (input) => getWeather(input),
});

async function callTool(model) {
  const prompt = "How is the weather in Paris?";
  const tools = { get_weather: weather };
  const { text } = await generateText({ model, tools, stopWhen: stepCountIs(4), prompt });
  assert(text.includes("18 degrees"), text);
}

await run("ai", {
  streams: async () => {
    const parts = await Array.fromAsync(streamText({ model: compatible(TOOLS_MODEL), prompt: "Echo this" }).textStream);
    assert(parts.join("") === "Echo this", parts);
  },
  "calls a tool": () => callTool(compatible(TOOLS_MODEL)),
  "calls a tool by Responses": () => callTool(openai(TOOLS_MODEL)),
  "generates an object": async () => {
    const schema = z.object({ name: z.string(), age: z.number() });
    const output = Output.object({ schema });
    const asked = { model: openai.chat(TOOLS_MODEL), output, prompt: "Extract: Jane is 41 years old." };
    const { output: person } = await generateText(asked);
    assert(person.age === 41, person);
  },
  "searches files": () =>
    withStore(async (id) => {
      const search = openai.tools.fileSearch({ vectorStoreIds: [id], maxNumResults: 1 });
      const request = { model: openai(TOOLS_MODEL), tools: { file_search: search }, prompt: "Where do otters swim?" };
      const { text, sources, toolResults } = await generateText(request);
      assert(text.startsWith("Otters swim in rivers"), text);
      assert(sources[0]?.filename === "otters.md", { sources, toolResults });
      const parts = await Array.fromAsync(streamText(request).fullStream);
      const types = parts.map(({ type }) => type);
      assert(types.includes("source") && types.includes("tool-result") && !types.includes("error"), types);
    }),
});
