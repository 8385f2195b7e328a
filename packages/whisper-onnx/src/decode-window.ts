/** Decodes one window of at most 30 seconds, with fallback to higher temperatures as in OpenAI's implementation. */

import { deflateSync } from "node:zlib";
import { type Beam, BeamSearch } from "./beam-search.ts";
import { type DetectedLanguage, rankLanguages } from "./rank-languages.ts";
import { sampleTranscript } from "./sample-transcript.ts";
import { applyTimestampRules, type Prediction, probabilityOfSpecial, topTokens } from "./token-sampling.ts";
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
  /** Transcripts that are sampled at temperatures above 0, of which the likeliest counts. */
  bestOf: number;
  random: () => number;
  /** Whether text that repeats itself is returned at once, because the caller decodes the window in two parts instead. */
  isDivisible: boolean;
}

export interface DecodedWindow {
  /** Text and timestamps, without the prompt. */
  tokens: readonly number[];
  averageLogProbability: number;
  noSpeechProbability: number;
  temperature: number;
  /** Whether the text repeats itself more than speech does, as a decoder that loops does. */
  isRepetitive: boolean;
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
    if (isSilence(decoded) || isAcceptable(decoded) || (decoded.isRepetitive && options.isDivisible)) return decoded;
    best = best === undefined ? decoded : betterOf(best, decoded);
  }
  return best;
}

/** Prefers text without loops, because a loop has a high log probability. */
function betterOf(a: DecodedWindow, b: DecodedWindow): DecodedWindow {
  if (a.isRepetitive !== b.isRepetitive) return a.isRepetitive ? b : a;
  return b.averageLogProbability > a.averageLogProbability ? b : a;
}

/** Whether the model predicts no speech and has little confidence in the text that it decoded nevertheless. */
export function isSilence({ noSpeechProbability, averageLogProbability }: DecodedWindow): boolean {
  return noSpeechProbability > NO_SPEECH_THRESHOLD && averageLogProbability < LOG_PROBABILITY_THRESHOLD;
}

/** Probabilities of `languages`, the likeliest first. */
export async function detectLanguages(
  network: WhisperNetwork,
  tokenizer: WhisperTokenizer,
  encoderOutput: EncoderOutput,
  languages: readonly string[],
): Promise<DetectedLanguage[]> {
  const state = network.startDecoding(encoderOutput, 1);
  const [next] = await state.append([tokenizer.startOfTranscript], [0], { candidates: 1 });
  const logits = languages.map(
    (code) => next?.special[(tokenizer.languages.get(code) ?? 0) - tokenizer.endOfText] ?? Number.NEGATIVE_INFINITY,
  );
  return rankLanguages(languages, logits);
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
  const state = network.startDecoding(encoderOutput, temperature === 0 ? options.beamSize : options.bestOf);
  const [atStart, first] = await state.append(prompt, [previous.length, prompt.length - 1], { candidates: 1 });
  if (atStart === undefined || first === undefined) throw new Error("The decoder returned no logits");
  const noSpeechProbability = probabilityOfSpecial(atStart, tokenizer.noSpeech, tokenizer.endOfText);
  const limits = { ...options, maxTokens: maxTokens(network) };
  const transcript =
    temperature === 0
      ? await searchBeams(state, tokenizer, first, limits, signal)
      : await sampleTranscript(state, tokenizer, first, limits, signal);
  if (transcript === undefined) return undefined;
  const { tokens, logProbability } = transcript;
  const averageLogProbability = logProbability / (tokens.length + 1);
  const isRepetitive = compressionRatio(tokenizer.decode(tokens)) > COMPRESSION_RATIO_THRESHOLD;
  return { tokens, averageLogProbability, noSpeechProbability, temperature, isRepetitive };
}

type Limits = DecodeOptions & { maxTokens: number };

async function searchBeams(
  state: DecoderState,
  tokenizer: WhisperTokenizer,
  first: Prediction,
  { beamSize, maxTokens }: Limits,
  signal: AbortSignal,
): Promise<Beam | undefined> {
  const search = new BeamSearch(beamSize, tokenizer.endOfText);
  let beams: readonly Beam[] = [{ tokens: [], logProbability: 0 }];
  let next = [first];
  for (let length = 0; length < maxTokens; length += 1) {
    if (signal.aborted) return undefined;
    const continued = search.advance(
      beams,
      beams.map(({ tokens }, beam) => {
        const allowed = applyTimestampRules(next[beam] ?? first, tokens, tokenizer);
        return topTokens(allowed, search.candidatesPerBeam, tokenizer.endOfText);
      }),
    );
    beams = continued;
    if (search.isComplete || continued.length === 0) break;
    next = await state.extend(
      continued.map(({ tokens }) => tokens.at(-1) ?? tokenizer.endOfText),
      continued.map(({ parent }) => parent),
      { candidates: search.candidatesPerBeam },
    );
  }
  return search.best(beams);
}

function isAcceptable({ averageLogProbability, isRepetitive }: DecodedWindow): boolean {
  return averageLogProbability >= LOG_PROBABILITY_THRESHOLD && !isRepetitive;
}

function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return bytes.length / deflateSync(bytes).length;
}
