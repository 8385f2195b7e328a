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
