import type { CodeSamples } from "../../components/as-code.tsx";
import { baseUrl, PYTHON_CLIENT, shellQuote, TYPESCRIPT_CLIENT } from "../../components/code-text.ts";

export interface Segment {
  id: number;
  /** Seconds. */
  start: number;
  end: number;
  text: string;
}

export interface Transcript {
  text: string;
  segments: Segment[];
}

export function toSrt(segments: readonly Segment[]): string {
  return segments
    .map(({ start, end, text }, index) => `${index + 1}\n${clock(start, ",")} --> ${clock(end, ",")}\n${text.trim()}\n`)
    .join("\n");
}

export function toVtt(segments: readonly Segment[]): string {
  const cues = segments.map(({ start, end, text }) => `${clock(start, ".")} --> ${clock(end, ".")}\n${text.trim()}\n`);
  return `WEBVTT\n\n${cues.join("\n")}`;
}

/** `01:02:03,456` */
function clock(seconds: number, separator: string): string {
  const milliseconds = Math.round(seconds * 1000);
  const parts = [milliseconds / 3_600_000, (milliseconds / 60_000) % 60, (milliseconds / 1000) % 60];
  const whole = parts.map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
  return `${whole}${separator}${String(milliseconds % 1000).padStart(3, "0")}`;
}

export function transcriptionSamples(model: string, file: string): CodeSamples {
  return {
    curl: `curl ${baseUrl()}/audio/transcriptions \\
  -H "Authorization: Bearer $OPENAI_API_KEY" \\
  -F model=${shellQuote(model)} \\
  -F file=@${shellQuote(file)}`,
    python: `${PYTHON_CLIENT()}
with open(${JSON.stringify(file)}, "rb") as file:
    transcript = client.audio.transcriptions.create(model=${JSON.stringify(model)}, file=file)
print(transcript.text)
`,
    typescript: `import { createReadStream } from "node:fs";
${TYPESCRIPT_CLIENT()}
const transcript = await client.audio.transcriptions.create({
  model: ${JSON.stringify(model)},
  file: createReadStream(${JSON.stringify(file)}),
});
console.log(transcript.text);
`,
  };
}
