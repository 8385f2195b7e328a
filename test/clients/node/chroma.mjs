import { OpenAIEmbeddingFunction } from "@chroma-core/openai";
import { API_KEY, assert, BASE_URL, run } from "./common.mjs";

await run("@chroma-core/openai", {
  embeds: async () => {
    const embed = new OpenAIEmbeddingFunction({
      modelName: "text-embedding-3-small",
      apiKey: API_KEY,
      apiBase: BASE_URL,
    });
    const vectors = await embed.generate(["A cat.", "A dog."]);
    assert(vectors.length === 2 && vectors[0].length === 384, vectors.length);
  },
});
