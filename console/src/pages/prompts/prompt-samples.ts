// untranslated file: code
import { curlJson, PYTHON_CLIENT, TYPESCRIPT_CLIENT } from "../../components/code-text.ts";
import { allVariables } from "./prompt-text.ts";
import type { PromptVersion } from "./prompts-api.ts";

/** A request that names the prompt, for each client. */
export function promptSamples(name: string, { content }: PromptVersion) {
  const variables = Object.fromEntries(
    allVariables(content).map((variable) => [variable.name, String(variable.default ?? "…")]),
  );
  const prompt = { id: name, ...(Object.keys(variables).length > 0 && { variables }) };
  return {
    curl: curlJson("responses", { prompt }),
    python: `${PYTHON_CLIENT()}
response = client.responses.create(prompt=${JSON.stringify(prompt)})
print(response.output_text)
`,
    typescript: `${TYPESCRIPT_CLIENT()}
const response = await client.responses.create({ prompt: ${JSON.stringify(prompt)} });
console.log(response.output_text);
`,
  };
}
