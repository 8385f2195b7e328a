/** Code of a request. untranslated file: code */

import type { CodeSamples } from "../../components/as-code.tsx";
import { curlJson, PYTHON_CLIENT, TYPESCRIPT_CLIENT } from "../../components/code-text.ts";

export interface ImageSettings {
  model: string;
  prompt: string;
  /** `auto`: the model chooses. */
  size: string;
  n: number;
}

export function imageBody({ model, prompt, size, n }: ImageSettings) {
  return { model, prompt, n, ...(size !== "auto" && { size }), response_format: "b64_json" };
}

export function imageSamples(settings: ImageSettings): CodeSamples {
  const { response_format: _format, ...body } = imageBody(settings);
  const fields = Object.entries(body)
    .map(([name, value]) => `    ${name}=${JSON.stringify(value)},\n`)
    .join("");
  return {
    curl: curlJson("images/generations", body),
    python: `import base64
${PYTHON_CLIENT()}
images = client.images.generate(
${fields})
with open("image.png", "wb") as file:
    file.write(base64.b64decode(images.data[0].b64_json))
`,
    typescript: `import { writeFile } from "node:fs/promises";
${TYPESCRIPT_CLIENT()}
const { data } = await client.images.generate(${JSON.stringify(body, undefined, 2)});
await writeFile("image.png", Buffer.from(data[0].b64_json, "base64"));
`,
  };
}
