/** A speech model behind any API of OpenAI's kind. It is asked for plain samples, which are encoded here for each caller. */

import type { SpeechModel, SpeechRequest } from "../../contracts/speech-model.ts";
import type { Exchange, ResponseHead } from "./connection/exchange.ts";
import { readErrorBody } from "./connection/read-body.ts";
import { readErrorResponse } from "./read-error-response.ts";
import { parseUpstreamError, UpstreamError } from "./upstream-error.ts";
import type { FaultContext } from "./upstream-fault.ts";
import { UpstreamModel } from "./upstream-model.ts";

/** First bytes of other file formats, with which samples practically never begin. */
const FILE_MARKS: Readonly<Record<string, string>> = { RIFF: "WAV", OggS: "Ogg", fLaC: "FLAC", ID3: "MP3" };
const LONGEST_MARK = 4;

/** Format of OpenAI's `pcm`: 16 bits, little-endian, mono. */
const PCM_RATE = 24_000;
const BYTES_PER_SAMPLE = 2;
const FULL_SCALE = 32_768;

export class UpstreamSpeech extends UpstreamModel implements SpeechModel {
  readonly task = "speech";
  readonly voices = undefined;
  readonly voiceAliases = {};
  readonly languages = undefined;
  readonly sampleRate = PCM_RATE;
  readonly wordTimes = false;

  async *speak(request: SpeechRequest, signal: AbortSignal): AsyncGenerator<Float32Array> {
    const context = this.contextOf(request.model);
    const body = JSON.stringify(toBody(request, context.upstreamModel));
    const exchange = this.send("audio/speech", { body, callerHeaders: request.callerHeaders }, signal);
    try {
      const head = await exchange.head();
      if (head === undefined) return;
      await expectSamples(head, exchange, context);
      yield* readSamples(exchange, String(head.headers["content-type"] ?? ""));
    } catch (error) {
      if (!signal.aborted) throw this.toFault(error, context);
    } finally {
      exchange.release(true);
    }
  }
}

function toBody({ text, voice, speed, instructions }: SpeechRequest, model: string): Record<string, unknown> {
  return {
    model,
    input: text,
    voice,
    response_format: "pcm",
    ...(speed === 1 ? {} : { speed }),
    ...(instructions === undefined ? {} : { instructions }),
  };
}

/** Throws when the upstream refuses, or answers with something other than samples at the rate that `pcm` has. */
async function expectSamples(head: ResponseHead, exchange: Exchange, context: FaultContext): Promise<void> {
  if (head.status !== 200) throw await readErrorResponse(head, exchange, context);
  const type = String(head.headers["content-type"] ?? "");
  if (/json|html/.test(type)) {
    const error = parseUpstreamError(await readErrorBody(exchange));
    throw error ?? new UpstreamError("answered with a text instead of audio");
  }
  const rate = /rate=(\d+)/.exec(type)?.[1];
  if (rate !== undefined && Number(rate) !== PCM_RATE) {
    throw new UpstreamError(`gave ${rate} samples a second; pcm has ${PCM_RATE}`);
  }
}

async function* readSamples(exchange: Exchange, contentType: string): AsyncGenerator<Float32Array> {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;
  for (let read = await exchange.read(); read !== undefined; read = await exchange.read()) {
    exchange.progress();
    const bytes = Buffer.concat([rest, ...read]);
    if (isFirst && bytes.length < LONGEST_MARK) {
      rest = bytes;
      continue;
    }
    const file = isFirst ? fileIn(bytes, contentType) : undefined;
    if (file !== undefined) throw new UpstreamError(`answered with ${file} instead of pcm`);
    isFirst = false;
    const length = Math.floor(bytes.length / BYTES_PER_SAMPLE);
    rest = bytes.subarray(length * BYTES_PER_SAMPLE);
    if (length > 0) {
      yield Float32Array.from({ length }, (_, index) => bytes.readInt16LE(index * BYTES_PER_SAMPLE) / FULL_SCALE);
    }
  }
  if (isFirst) throw new UpstreamError("answered with no audio");
}

/** Detects a file by its first bytes; undefined for samples. A file played as samples would be loud noise. */
function fileIn(bytes: Buffer, contentType: string): string | undefined {
  const start = bytes.toString("latin1", 0, LONGEST_MARK);
  const mark = Object.keys(FILE_MARKS).find((each) => start.startsWith(each));
  if (mark !== undefined) return `a file of the kind ${FILE_MARKS[mark]}`;
  // Frames of MP3 and AAC begin with bits that samples may begin with too, so what it is called counts.
  const isFrame = bytes[0] === 0xff && ((bytes[1] as number) & 0xe0) === 0xe0;
  return isFrame && /mpeg|mp3|aac/i.test(contentType) ? "MP3 or AAC" : undefined;
}
