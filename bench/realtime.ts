/**
 * Latency of the Realtime API with the default models: from the end of speech, as it arrives at the pace of a microphone,
 * to the first text and the first sound, with one and several sessions.
 *
 *   node bench/realtime.ts [--sessions COUNT,…] [--silence MS] [--model CHAT_MODEL] [--rounds COUNT]
 *
 * The end of speech is the last sample of the sentence. A turn ends only after a silence, which is part of each figure.
 */

import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { DEFAULT_CHAT_MODEL } from "../test/support/models/default-model.ts";
import { RealtimeClient, silence } from "../test/support/service/realtime-client.ts";
import { startServiceProcess } from "../test/support/service/service-process.ts";
import { median } from "./speech-voices.ts";

const { values } = parseArgs({
  options: {
    sessions: { type: "string", default: "1,4" },
    silence: { type: "string", default: "500" },
    model: { type: "string", default: DEFAULT_CHAT_MODEL },
    rounds: { type: "string", default: "5" },
  },
});
const INPUT = "What is the weather like in the mountains today?";
/** Amplitude of 16 bits below which a sample is silence. */
const AUDIBLE = 300;
const PIECE_BYTES = 4800;
const PIECE_MS = 100;

const service = await startServiceProcess({ config: "builtin_models: true\n" });
const speech = { model: "tts-1", voice: "alloy", response_format: "pcm", input: INPUT } as const;
const spoken = withoutEnd(Buffer.from(await (await service.client().audio.speech.create(speech)).arrayBuffer()));
const seconds = spoken.length / 48_000;

/** Removes the silence after the last word, which would count as speech. */
function withoutEnd(pcm: Buffer): Buffer {
  let end = pcm.length - (pcm.length % 2);
  while (end > 2 && Math.abs(pcm.readInt16LE(end - 2)) < AUDIBLE) end -= 2;
  return pcm.subarray(0, end);
}

/** Sends a sentence as a microphone would; returns when its last sample was sent. */
async function say(client: RealtimeClient, signal: AbortSignal): Promise<number> {
  const began = performance.now();
  let sent = 0;
  const send = async (pcm: Buffer) => {
    for (let start = 0; start < pcm.length && !signal.aborted; start += PIECE_BYTES) {
      client.sendAudio(pcm.subarray(start, start + PIECE_BYTES));
      sent += 1;
      await delay(Math.max(0, began + sent * PIECE_MS - performance.now()));
    }
  };
  await send(spoken);
  const endedAt = performance.now();
  void send(silence(60));
  return endedAt;
}

async function open(query: string, session: object): Promise<RealtimeClient> {
  const client = await RealtimeClient.connect(service, { query });
  const turn_detection = { type: "server_vad", silence_duration_ms: Number(values.silence) };
  client.send({ type: "session.update", session: { audio: { input: { turn_detection } }, ...session } });
  await client.next("session.updated");
  return client;
}

async function transcribe(): Promise<number[]> {
  const client = await open("intent=transcription", { type: "transcription" });
  const stop = new AbortController();
  const endedAt = await say(client, stop.signal);
  await client.next("input_audio_buffer.committed");
  const committed = performance.now() - endedAt;
  await client.next("conversation.item.input_audio_transcription.delta");
  const firstText = performance.now() - endedAt;
  await client.next("conversation.item.input_audio_transcription.completed");
  const transcript = performance.now() - endedAt;
  stop.abort();
  await client.close();
  return [committed, firstText, transcript];
}

async function talk(): Promise<number[]> {
  const client = await open(`model=${values.model}`, { type: "realtime", max_output_tokens: 40 });
  const stop = new AbortController();
  const endedAt = await say(client, stop.signal);
  await client.next("conversation.item.input_audio_transcription.completed");
  const transcript = performance.now() - endedAt;
  await client.next("response.output_audio_transcript.delta");
  const firstText = performance.now() - endedAt;
  await client.next("response.output_audio.delta");
  const firstSound = performance.now() - endedAt;
  stop.abort();
  await client.close();
  return [transcript, firstText, firstSound];
}

async function report(name: string, columns: readonly string[], run: () => Promise<number[]>): Promise<void> {
  await run();
  for (const count of values.sessions.split(",").map(Number)) {
    const rounds: number[][] = [];
    for (let round = 0; round < Number(values.rounds); round += 1) {
      rounds.push(...(await Promise.all(Array.from({ length: count }, run))));
    }
    const figures = columns.map(
      (column, index) => `${column} ${Math.round(median(rounds.map((each) => each[index] ?? 0)))} ms`,
    );
    console.log(`${name}, ${count} at once: ${figures.join(", ")}`);
  }
}

console.log(`${seconds.toFixed(1)} s of speech, then silence; a turn ends after ${values.silence} ms of it`);
await report("transcription session", ["turn ended", "first text", "complete"], transcribe);
await report(`voice session (${values.model})`, ["transcript", "first text", "first sound"], talk);
await service.stop();
