/** Decodes one window of at most 30 seconds, with fallback to higher temperatures as in OpenAI's implementation. */

import { deflateSync } from "node:zlib";
import { type Beam, BeamSearch } from "./beam-search.ts";
import { applyTimestampRules, argmax, probabilityOf, sampleToken } from "./token-sampling.ts";
import type { DecoderState, EncoderOutput, WhisperNetwork } from "./whisper-network.ts";
import type { WhisperTokenizer } from "./whisper-tokenizer.ts";

export interface DecodeOptions {
  /** Undefined for English-only models. */
  language: string | undefined;
  translate: boolean;
  /** Tokens of previous text, which style and spelling follow. */
  prompt: readonly number[];
  temperature: number;
  /** Transcripts that are searched at temperature 0; 1 takes the likeliest token each time. */
  beamSize: number;
  random: () => number;
}

export interface DecodedWindow {
  /** Text and timestamps, without the prompt. */
  tokens: readonly number[];
  averageLogProbability: number;
  noSpeechProbability: number;
  temperature: number;
}

const FALLBACK_TEMPERATURES = [0, 0.2, 0.4, 0.6, 0.8, 1];
const COMPRESSION_RATIO_THRESHOLD = 2.4;
const LOG_PROBABILITY_THRESHOLD = -1;
const NO_SPEECH_THRESHOLD = 0.6;

/** Undefined once the signal aborts. */
export async function decodeWindow(
  network: WhisperNetwork,
  tokenizer: WhisperTokenizer,
  encoderOutput: EncoderOutput,
  options: DecodeOptions,
  signal: AbortSignal,
): Promise<DecodedWindow | undefined> {
  const temperatures = options.temperature === 0 ? FALLBACK_TEMPERATURES : [options.temperature];
  let best: DecodedWindow | undefined;
  for (const temperature of temperatures) {
    const decoded = await decodeOnce(network, tokenizer, encoderOutput, { ...options, temperature }, signal);
    if (decoded === undefined) return undefined;
    if (isSilence(decoded) || isAcceptable(decoded, tokenizer)) return decoded;
    best = best === undefined ? decoded : betterOf(best, decoded, tokenizer);
  }
  return best;
}

/** Prefers text without loops, because a loop has a high log probability. */
function betterOf(a: DecodedWindow, b: DecodedWindow, tokenizer: WhisperTokenizer): DecodedWindow {
  const isLoop = (window: DecodedWindow) => compressionRatio(window, tokenizer) > COMPRESSION_RATIO_THRESHOLD;
  if (isLoop(a) !== isLoop(b)) return isLoop(a) ? b : a;
  return b.averageLogProbability > a.averageLogProbability ? b : a;
}

/** Whether the model predicts no speech and has little confidence in the text that it decoded nevertheless. */
export function isSilence({ noSpeechProbability, averageLogProbability }: DecodedWindow): boolean {
  return noSpeechProbability > NO_SPEECH_THRESHOLD && averageLogProbability < LOG_PROBABILITY_THRESHOLD;
}

/** The code of the likeliest language. */
export async function detectLanguage(
  network: WhisperNetwork,
  tokenizer: WhisperTokenizer,
  encoderOutput: EncoderOutput,
): Promise<string> {
  const [logits] = await network.startDecoding(encoderOutput).append([tokenizer.startOfTranscript], [0]);
  const codes = [...tokenizer.languages.keys()];
  const scores = [...tokenizer.languages.values()].map((token) => logits?.[token] ?? Number.NEGATIVE_INFINITY);
  return codes[argmax(scores)] ?? "en";
}

/** Half of the decoder's context is for the transcript. */
export function maxPromptTokens({ shape }: WhisperNetwork): number {
  return shape.contextTokens / 2 - 1;
}

function maxTokens({ shape }: WhisperNetwork): number {
  return shape.contextTokens / 2;
}

/** The special tokens that start a transcript. */
export function promptTokens(
  tokenizer: WhisperTokenizer,
  { language, translate }: Pick<DecodeOptions, "language" | "translate">,
): number[] {
  const token = language === undefined ? undefined : tokenizer.languages.get(language);
  if (token === undefined) return [tokenizer.startOfTranscript];
  return [tokenizer.startOfTranscript, token, translate ? tokenizer.translate : tokenizer.transcribe];
}

async function decodeOnce(
  network: WhisperNetwork,
  tokenizer: WhisperTokenizer,
  encoderOutput: EncoderOutput,
  options: DecodeOptions,
  signal: AbortSignal,
): Promise<DecodedWindow | undefined> {
  const { temperature } = options;
  const previous = options.prompt.length === 0 ? [] : [tokenizer.startOfPrevious, ...options.prompt];
  const prompt = [...previous, ...promptTokens(tokenizer, options)];
  const state = network.startDecoding(encoderOutput);
  const [atStart, first] = await state.append(prompt, [previous.length, prompt.length - 1]);
  if (atStart === undefined || first === undefined) throw new Error("The decoder returned no logits");
  const noSpeechProbability = probabilityOf(atStart, tokenizer.noSpeech);
  const transcript =
    temperature === 0 && options.beamSize > 1
      ? await searchBeams(state, tokenizer, first, { ...options, maxTokens: maxTokens(network) }, signal)
      : await sampleTokens(state, tokenizer, first, { ...options, maxTokens: maxTokens(network) }, signal);
  if (transcript === undefined) return undefined;
  const { tokens, logProbability } = transcript;
  return { tokens, averageLogProbability: logProbability / (tokens.length + 1), noSpeechProbability, temperature };
}

type Limits = DecodeOptions & { maxTokens: number };

async function sampleTokens(
  state: DecoderState,
  tokenizer: WhisperTokenizer,
  first: Float32Array,
  { temperature, random, maxTokens }: Limits,
  signal: AbortSignal,
): Promise<Beam | undefined> {
  const tokens: number[] = [];
  let logits = first;
  let logProbability = 0;
  for (;;) {
    if (signal.aborted) return undefined;
    const sampled = sampleToken(allowedLogits(logits, tokens, tokenizer), temperature, random);
    logProbability += sampled.logProbability;
    if (sampled.token === tokenizer.endOfText) break;
    tokens.push(sampled.token);
    if (tokens.length >= maxTokens) break;
    [logits = first] = await state.extend([sampled.token], [0]);
  }
  return { tokens, logProbability };
}

async function searchBeams(
  state: DecoderState,
  tokenizer: WhisperTokenizer,
  first: Float32Array,
  { beamSize, maxTokens }: Limits,
  signal: AbortSignal,
): Promise<Beam | undefined> {
  const search = new BeamSearch(beamSize, tokenizer.endOfText);
  let beams: readonly Beam[] = [{ tokens: [], logProbability: 0 }];
  let logits = [first];
  for (let length = 0; length < maxTokens; length += 1) {
    if (signal.aborted) return undefined;
    const continued = search.advance(
      beams,
      beams.map(({ tokens }, beam) => allowedLogits(logits[beam] ?? first, tokens, tokenizer)),
    );
    beams = continued;
    if (search.isComplete || continued.length === 0) break;
    logits = await state.extend(
      continued.map(({ tokens }) => tokens.at(-1) ?? tokenizer.endOfText),
      continued.map(({ parent }) => parent),
    );
  }
  return search.best(beams);
}

/** A copy, because rows of one result share memory. */
function allowedLogits(logits: Float32Array, tokens: readonly number[], tokenizer: WhisperTokenizer): Float32Array {
  const allowed = logits.slice();
  applyTimestampRules(allowed, tokens, tokenizer);
  return allowed;
}

function isAcceptable(window: DecodedWindow, tokenizer: WhisperTokenizer): boolean {
  return (
    window.averageLogProbability >= LOG_PROBABILITY_THRESHOLD &&
    compressionRatio(window, tokenizer) <= COMPRESSION_RATIO_THRESHOLD
  );
}

function compressionRatio({ tokens }: DecodedWindow, tokenizer: WhisperTokenizer): number {
  const bytes = Buffer.from(tokenizer.decode(tokens));
  return bytes.length / deflateSync(bytes).length;
}
