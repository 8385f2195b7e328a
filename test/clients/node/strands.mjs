import { Agent, tool } from "@strands-agents/sdk";
import { OpenAIModel } from "@strands-agents/sdk/models/openai";
import { z } from "zod";
import { API_KEY, assert, BASE_URL, getWeather, run, TOOLS_MODEL } from "./common.mjs";

const weather = tool({
  name: "get_weather",
  description: "Current weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  callback: getWeather,
});

await run("@strands-agents/sdk", {
  "calls a tool and answers as an agent": async () => {
    const model = new OpenAIModel({
      api: "chat",
      modelId: TOOLS_MODEL,
      apiKey: API_KEY,
      clientConfig: { baseURL: BASE_URL },
    });
    const result = await new Agent({ model, tools: [weather], printer: false }).invoke("How is the weather in Paris?");
    assert(String(result).includes("18 degrees"), String(result));
  },
});
