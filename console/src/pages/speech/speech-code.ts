/** Code of a request. untranslated file: code */

import type { CodeSamples } from "../../components/as-code.tsx";
import { curlJson, PYTHON_CLIENT, TYPESCRIPT_CLIENT } from "../../components/code-text.ts";

export interface SpeechSettings {
  model: string;
  input: string;
  voice: string;
  format: string;
  speed: number;
}

export function speechSamples({ model, input, voice, format, speed }: SpeechSettings): CodeSamples {
  const body = { model, input, voice, response_format: format, ...(speed !== 1 && { speed }) };
  const fields = Object.entries(body)
    .map(([name, value]) => `    ${name}=${JSON.stringify(value)},\n`)
    .join("");
  return {
    curl: `${curlJson("audio/speech", body)} \\\n  -o speech.${format}`,
    python: `${PYTHON_CLIENT()}
with client.audio.speech.with_streaming_response.create(
${fields}) as response:
    response.stream_to_file("speech.${format}")
`,
    typescript: `import { writeFile } from "node:fs/promises";
${TYPESCRIPT_CLIENT()}
const response = await client.audio.speech.create(${JSON.stringify(body, undefined, 2)});
await writeFile("speech.${format}", Buffer.from(await response.arrayBuffer()));
`,
  };
}
