import { openAICompatible } from "@genkit-ai/compat-oai";
import { genkit, z } from "genkit";
import { API_KEY, assert, BASE_URL, getWeather, run, TOOLS_MODEL } from "./common.mjs";

const ai = genkit({ plugins: [openAICompatible({ name: "parlance", apiKey: API_KEY, baseURL: BASE_URL })] });
const model = `parlance/${TOOLS_MODEL}`;
const weather = ai.defineTool(
  { name: "get_weather", description: "Current weather of a city.", inputSchema: z.object({ city: z.string() }) },
  async (input) => getWeather(input),
);

await run("@genkit-ai/compat-oai", {
  answers: async () => {
    const { text } = await ai.generate({ model, prompt: "Echo this" });
    assert(text === "Echo this", text);
  },
  streams: async () => {
    let text = "";
    for await (const chunk of ai.generateStream({ model, prompt: "Echo this" }).stream) text += chunk.text;
    assert(text === "Echo this", text);
  },
  "calls a tool and answers with its result": async () => {
    const { text } = await ai.generate({ model, prompt: "How is the weather in Paris?", tools: [weather] });
    assert(text.includes("18 degrees"), text);
  },
});
