import { OpenAI, OpenAIEmbedding } from "@llamaindex/openai";
import { API_KEY, assert, BASE_URL, getWeather, run, TOOLS_MODEL } from "./common.mjs";

const llm = new OpenAI({ model: TOOLS_MODEL, apiKey: API_KEY, baseURL: BASE_URL });
const weather = {
  metadata: {
    name: "get_weather",
    description: "Current weather of a city.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
  call: getWeather,
};

await run("@llamaindex/openai", {
  chats: async () => {
    const { message } = await llm.chat({ messages: [{ role: "user", content: "Echo this" }] });
    assert(message.content === "Echo this", message);
  },
  streams: async () => {
    let text = "";
    const messages = [{ role: "user", content: "Echo this" }];
    for await (const { delta } of await llm.chat({ messages, stream: true })) text += delta;
    assert(text === "Echo this", text);
  },
  "calls a tool": async () => {
    const messages = [{ role: "user", content: "How is the weather?" }];
    const { message } = await llm.chat({ messages, tools: [weather] });
    assert(message.options.toolCall[0].name === "get_weather", message);
  },
  embeds: async () => {
    const embedding = new OpenAIEmbedding({ model: "text-embedding-3-small", apiKey: API_KEY, baseURL: BASE_URL });
    const vector = await embedding.getTextEmbedding("A cat.");
    assert(vector.length === 384, vector.length);
  },
});
