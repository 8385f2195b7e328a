import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";
import { API_KEY, assert, BASE_URL, getWeather, run, TOOLS_MODEL } from "./common.mjs";

const weather = tool(getWeather, {
  name: "get_weather",
  description: "Current weather of a city.",
  schema: z.object({ city: z.string() }),
});

await run("@langchain/langgraph", {
  "calls a tool and answers as an agent": async () => {
    const llm = new ChatOpenAI({ model: TOOLS_MODEL, apiKey: API_KEY, configuration: { baseURL: BASE_URL } });
    const agent = createReactAgent({ llm, tools: [weather] });
    const { messages } = await agent.invoke({ messages: [{ role: "user", content: "How is the weather in Paris?" }] });
    assert(messages.at(-1).content.includes("18 degrees"), messages.at(-1).content);
  },
});
