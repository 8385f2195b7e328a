/** A speech model behind any API of OpenAI's kind. It is asked for plain samples, which are encoded here for each caller. */

import type { Logger } from "../../observability/logger.ts";
import type { ModelHealth, SpeechModel, SpeechRequest } from "../engine.ts";
import type { Connections } from "./connections.ts";
import { Exchange, type ResponseHead } from "./exchange.ts";
import { createMask } from "./mask.ts";
import type { OpenAiCompatibleSettings } from "./settings.ts";
import { UpstreamError, upstreamErrorIn } from "./upstream-error.ts";
import { brokenFault, closedFault, type FaultContext, refusalFault, retryAfterSeconds } from "./upstream-fault.ts";
import { requestTemplate, toUpstreamModel } from "./upstream-request.ts";

/** Of OpenAI's `pcm`: 16 bits, little-endian, mono. */
const PCM_RATE = 24_000;
const BYTES_PER_SAMPLE = 2;
const FULL_SCALE = 32_768;
const ERROR_BODY_SECONDS = 5;

export interface UpstreamSpeechOptions {
  /** The deployment's. */
  name: string;
  catalogId: string;
  settings: OpenAiCompatibleSettings;
  connections: Connections;
  logger: Logger;
}

export class UpstreamSpeech implements SpeechModel {
  readonly task = "speech";
  readonly device = "upstream";
  readonly voices = undefined;
  readonly voiceAliases = {};
  readonly sampleRate = PCM_RATE;
  readonly slots: number | undefined;
  readonly #options: UpstreamSpeechOptions;
  readonly #mask: FaultContext["mask"];
  #isClosed = false;

  constructor(options: UpstreamSpeechOptions) {
    this.slots = options.settings.maxConcurrency;
    this.#options = options;
    this.#mask = createMask(options.settings);
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#options.connections.close();
  }

  async *speak(request: SpeechRequest, signal: AbortSignal): AsyncGenerator<Float32Array> {
    const { name, catalogId, settings, connections } = this.#options;
    if (this.#isClosed) throw closedFault(name);
    const upstreamModel = toUpstreamModel(settings.model, catalogId, request.model);
    const context = { deployment: name, model: request.model, upstreamModel, mask: this.#mask };
    const template = requestTemplate(settings);
    const path = template.path.replace("/chat/completions", "/audio/speech");
    const body = JSON.stringify(toBody(request, upstreamModel));
    const exchange = new Exchange(connections, { ...settings, request: { ...template, path, body } }, signal);
    try {
      const head = await exchange.head();
      if (head === undefined) return;
      await expectSamples(head, exchange, context);
      yield* readSamples(exchange);
    } catch (error) {
      if (signal.aborted) return;
      const fault = brokenFault(error, context);
      const { cause, kind } = fault;
      if (kind === "upstream-failed" || kind === "upstream-timeout") {
        const reason = cause instanceof Error ? this.#mask(cause.message).slice(0, 300) : undefined;
        this.#options.logger.warn({ reason }, fault.message);
      }
      throw fault;
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

/** Throws when the upstream refuses, or answers with something else than samples at the rate that `pcm` has. */
async function expectSamples(head: ResponseHead, exchange: Exchange, context: FaultContext): Promise<void> {
  const type = String(head.headers["content-type"] ?? "");
  const isText = /json|html/.test(type);
  if (head.status !== 200 || isText) {
    const error = upstreamErrorIn(await readError(exchange));
    if (head.status !== 200) throw refusalFault(head.status, error, retryAfterSeconds(head.headers), context);
    throw error ?? new UpstreamError("answered with a text instead of audio");
  }
  const rate = /rate=(\d+)/.exec(type)?.[1];
  if (rate !== undefined && Number(rate) !== PCM_RATE) {
    throw new UpstreamError(`gave ${rate} samples a second; pcm has ${PCM_RATE}`);
  }
}

async function readError(exchange: Exchange): Promise<unknown> {
  exchange.hurry(ERROR_BODY_SECONDS);
  const chunks: Buffer[] = [];
  try {
    for (let read = await exchange.read(); read !== undefined; read = await exchange.read()) chunks.push(...read);
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    // The status is answer enough.
    return undefined;
  }
}

async function* readSamples(exchange: Exchange): AsyncGenerator<Float32Array> {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;
  for (let read = await exchange.read(); read !== undefined; read = await exchange.read()) {
    exchange.progress();
    const bytes = Buffer.concat([rest, ...read]);
    if (isFirst && bytes.length < 4) {
      rest = bytes;
      continue;
    }
    if (isFirst && bytes.toString("latin1", 0, 4) === "RIFF") {
      throw new UpstreamError("answered with a WAV file instead of pcm");
    }
    isFirst = false;
    const length = Math.floor(bytes.length / BYTES_PER_SAMPLE);
    rest = bytes.subarray(length * BYTES_PER_SAMPLE);
    if (length > 0) {
      yield Float32Array.from({ length }, (_, index) => bytes.readInt16LE(index * BYTES_PER_SAMPLE) / FULL_SCALE);
    }
  }
  if (isFirst) throw new UpstreamError("answered with no audio");
}
