/** Code of a request. untranslated file: code */

import type { CodeSamples } from "../../components/as-code.tsx";
import { curlJson, PYTHON_CLIENT, TYPESCRIPT_CLIENT } from "../../components/code-text.ts";

export function embeddingSamples(model: string, input: string[]): CodeSamples {
  const body = { model, input };
  return {
    curl: curlJson("embeddings", body),
    python: `${PYTHON_CLIENT()}
response = client.embeddings.create(model=${JSON.stringify(model)}, input=${JSON.stringify(input)})
print(len(response.data[0].embedding))
`,
    typescript: `${TYPESCRIPT_CLIENT()}
const response = await client.embeddings.create(${JSON.stringify(body, undefined, 2)});
console.log(response.data[0]?.embedding.length);
`,
  };
}

/** No client of OpenAI's has the operation. */
export function rerankSamples(model: string, query: string, documents: string[]): CodeSamples {
  const body = { model, query, documents };
  const json = JSON.stringify(body, undefined, 2);
  return {
    curl: curlJson("rerank", body),
    python: `${PYTHON_CLIENT()}
ranking = client.post("/rerank", cast_to=object, body=${json})
for result in ranking["results"]:
    print(result["index"], result["relevance_score"])
`,
    typescript: `${TYPESCRIPT_CLIENT()}
const ranking: any = await client.post("/rerank", { body: ${json} });
for (const { index, relevance_score } of ranking.results) console.log(index, relevance_score);
`,
  };
}
