import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { API_KEY, assert, BASE_URL, getWeather, run, TOOLS_MODEL } from "./common.mjs";

const client = new Anthropic({ baseURL: BASE_URL.replace(/\/v1$/, ""), apiKey: API_KEY });
const ask = (content) => ({ model: TOOLS_MODEL, max_tokens: 100, messages: [{ role: "user", content }] });

await run("@anthropic-ai/sdk", {
  answers: async () => {
    const { content } = await client.messages.create(ask("Echo this"));
    assert(content[0].text === "Echo this", content);
  },
  streams: async () => {
    const text = await client.messages.stream(ask("Echo this")).finalText();
    assert(text === "Echo this", text);
  },
  "runs a tool with the tool runner": async () => {
    const weather = betaTool({
      name: "get_weather",
      description: "Current weather of a city.",
      inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      run: getWeather,
    });
    const { content } = await client.beta.messages.toolRunner({
      ...ask("How is the weather in Paris?"),
      tools: [weather],
    });
    assert(content[0].text.includes("18 degrees"), content);
  },
});
