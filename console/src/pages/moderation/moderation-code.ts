/** Code of a request. untranslated file: code */

import type { CodeSamples } from "../../components/as-code.tsx";
import { curlJson, PYTHON_CLIENT, TYPESCRIPT_CLIENT } from "../../components/code-text.ts";

export function moderationSamples(model: string, input: string): CodeSamples {
  const body = { model, input };
  return {
    curl: curlJson("moderations", body),
    python: `${PYTHON_CLIENT()}
moderation = client.moderations.create(model=${JSON.stringify(model)}, input=${JSON.stringify(input)})
print(moderation.results[0])
`,
    typescript: `${TYPESCRIPT_CLIENT()}
const moderation = await client.moderations.create(${JSON.stringify(body)});
console.log(moderation.results[0]);
`,
  };
}
