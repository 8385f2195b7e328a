/**
 * Speaks fifty sentences, lets the service's own transcription model write down what it hears, and states the word error rate.
 *
 *   node bench/speech-round-trip.ts [speech model] [transcription model] [voice]
 */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { toFile } from "openai";
import { startService } from "../test/support/service.ts";
import { wordErrors, wordsOf } from "../test/support/word-errors.ts";

const [speech = "hibari", transcription = "moonshine-base-en", voice = "alloy"] = process.argv.slice(2);
const sentences = (await readFile(join(import.meta.dirname, "speech-sentences.txt"), "utf8")).trim().split("\n");

const service = await startService({
  config: `builtin_models: false
models:
  - { id: ${speech}, task: speech, deployments: [{ engine: kokoro, model: ${speech} }] }
  - { id: ${transcription}, task: transcription, deployments: [{ engine: sherpa-onnx, model: ${transcription} }] }
`,
});
try {
  // Models that are still being fetched answer 503, which the client tries again.
  const client = service.client({ maxRetries: 20 });
  let errors = 0;
  let words = 0;
  for (const sentence of sentences) {
    const spoken = await client.audio.speech.create({ model: speech, voice, input: sentence, response_format: "flac" });
    const file = await toFile(Buffer.from(await spoken.arrayBuffer()), "spoken.flac");
    const { text } = await client.audio.transcriptions.create({ model: transcription, file });
    const wrong = wordErrors(sentence, text);
    errors += wrong;
    words += wordsOf(sentence).length;
    if (wrong > 0) console.log(`${wrong}  said:  ${sentence}\n   heard: ${text}`);
  }
  console.log(`${speech} (${voice}), heard by ${transcription}: ${errors} of ${words} words wrong,`);
  console.log(`word error rate ${((100 * errors) / words).toFixed(2)} %`);
} finally {
  await service.stop();
}
