/** Code of a request. untranslated file: code */

import type { CodeSamples } from "../../components/as-code.tsx";
import { baseUrl, PYTHON_CLIENT, shellQuote, TYPESCRIPT_CLIENT } from "../../components/code-text.ts";

export function transcriptionSamples(model: string, file: string, hasSpeakers: boolean): CodeSamples {
  const format = hasSpeakers ? "diarized_json" : "json";
  const python = hasSpeakers
    ? `for segment in transcript.segments:
    print(f"{segment.speaker}: {segment.text}")`
    : "print(transcript.text)";
  const typescript = hasSpeakers
    ? // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the sample's
      "for (const { speaker, text } of transcript.segments) console.log(`${speaker}: ${text}`);"
    : "console.log(transcript.text);";
  return {
    curl: `curl ${baseUrl()}/audio/transcriptions \\
  -H "Authorization: Bearer $OPENAI_API_KEY" \\
  -F model=${shellQuote(model)} \\
  -F response_format=${format} \\
  -F file=@${shellQuote(file)}`,
    python: `${PYTHON_CLIENT()}
with open(${JSON.stringify(file)}, "rb") as file:
    transcript = client.audio.transcriptions.create(
        model=${JSON.stringify(model)}, file=file, response_format="${format}"
    )
${python}
`,
    typescript: `import { createReadStream } from "node:fs";
${TYPESCRIPT_CLIENT()}
const transcript = await client.audio.transcriptions.create({
  model: ${JSON.stringify(model)},
  file: createReadStream(${JSON.stringify(file)}),
  response_format: "${format}",
});
${typescript}
`,
  };
}
