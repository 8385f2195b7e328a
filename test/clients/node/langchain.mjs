import { tool } from "@langchain/core/tools";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { z } from "zod";
import { API_KEY, assert, BASE_URL, DEFAULT_MODEL, getWeather, run, TOOLS_MODEL, withStore } from "./common.mjs";

const configuration = { baseURL: BASE_URL };
const model = (name, more = {}) => new ChatOpenAI({ model: name, apiKey: API_KEY, configuration, ...more });
const weather = tool(getWeather, {
  name: "get_weather",
  description: "Current weather of a city.",
  schema: z.object({ city: z.string() }),
});

await run("@langchain/openai", {
  "invokes the default model": async () => {
    const { content } = await model(DEFAULT_MODEL, { maxTokens: 16 }).invoke("Say hello.");
    assert(content !== "", content);
  },
  streams: async () => {
    let text = "";
    for await (const chunk of await model(TOOLS_MODEL).stream("Echo this")) text += chunk.content;
    assert(text === "Echo this", text);
  },
  "calls a bound tool": async () => {
    const { tool_calls } = await model(TOOLS_MODEL).bindTools([weather]).invoke("How is the weather?");
    assert(tool_calls[0].args.city === "Paris", tool_calls);
  },
  "answers in a schema": async () => {
    const schema = z.object({ name: z.string(), age: z.number() });
    const person = await model(TOOLS_MODEL).withStructuredOutput(schema).invoke("Extract: Jane is 41 years old.");
    assert(person.age === 41, person);
  },
  "answers by Responses": async () => {
    const { text } = await model(TOOLS_MODEL, { useResponsesApi: true }).invoke("Echo this");
    assert(text === "Echo this", text);
  },
  "searches files": () =>
    withStore(async (id) => {
      const search = { type: "file_search", vector_store_ids: [id], max_num_results: 1 };
      const { text, content } = await model(TOOLS_MODEL, { useResponsesApi: true })
        .bindTools([search])
        .invoke("Where do otters swim?");
      assert(text.startsWith("Otters swim in rivers"), text);
      const [{ annotations }] = content.filter(({ type }) => type === "text");
      assert(annotations[0]?.title === "otters.md", annotations);
    }),
  "embeds documents": async () => {
    const embeddings = new OpenAIEmbeddings({ model: "text-embedding-3-small", apiKey: API_KEY, configuration });
    const [vector] = await embeddings.embedDocuments(["A cat.", "A dog."]);
    assert(vector.length === 384, vector.length);
  },
});
