/** What is said in a window of at most thirty seconds: decoded, and decoded anew more freely when it came out badly. */

import { deflateSync } from "node:zlib";
import { applyRules, chooseToken, indexOfGreatest, probabilityOf } from "./next-token.ts";
import type { Vocabulary } from "./vocabulary.ts";
import type { Heard, WhisperNetwork } from "./whisper-network.ts";

export interface ReadOptions {
  /** Undefined for models of English alone. */
  language: string | undefined;
  translate: boolean;
  /** Tokens of what was said or spelt before. */
  prompt: readonly number[];
  temperature: number;
  random: () => number;
}

export interface WindowText {
  /** Text and times, without what steers. */
  tokens: readonly number[];
  averageLogProbability: number;
  noSpeechProbability: number;
  temperature: number;
}

/** As OpenAI's own code has them. */
const TEMPERATURES = [0, 0.2, 0.4, 0.6, 0.8, 1];
const MOST_COMPRESSION = 2.4;
const LEAST_LOG_PROBABILITY = -1;
const SURE_OF_SILENCE = 0.6;

/** Undefined once the signal aborts. */
export async function readWindow(
  network: WhisperNetwork,
  vocabulary: Vocabulary,
  heard: Heard,
  options: ReadOptions,
  signal: AbortSignal,
): Promise<WindowText | undefined> {
  const { temperature } = options;
  let best: WindowText | undefined;
  for (const each of temperature === 0 ? TEMPERATURES : [temperature]) {
    const text = await readOnce(network, vocabulary, heard, { ...options, temperature: each }, signal);
    if (text === undefined) return undefined;
    if (isSilence(text) || isGood(text, vocabulary)) return text;
    best = best === undefined ? text : better(best, text, vocabulary);
  }
  return best;
}

/** One that goes round in circles is sure of itself. */
function better(a: WindowText, b: WindowText, vocabulary: Vocabulary): WindowText {
  const isLoop = (text: WindowText) => compressionOf(text, vocabulary) > MOST_COMPRESSION;
  if (isLoop(a) !== isLoop(b)) return isLoop(a) ? b : a;
  return b.averageLogProbability > a.averageLogProbability ? b : a;
}

/** The model takes it for silence, and is not sure of what it wrote all the same. */
export function isSilence({ noSpeechProbability, averageLogProbability }: WindowText): boolean {
  return noSpeechProbability > SURE_OF_SILENCE && averageLogProbability < LEAST_LOG_PROBABILITY;
}

/** The code of the likeliest language. */
export async function detectLanguage(network: WhisperNetwork, vocabulary: Vocabulary, heard: Heard): Promise<string> {
  const [logits] = await network.passage(heard).read([vocabulary.start], [0]);
  const codes = [...vocabulary.languages.keys()];
  const scores = [...vocabulary.languages.values()].map((token) => logits?.[token] ?? Number.NEGATIVE_INFINITY);
  return codes[indexOfGreatest(scores)] ?? "en";
}

/** Half of what the decoder can look back on is the text's. */
export function mostPromptTokens({ shape }: WhisperNetwork): number {
  return shape.textContext / 2 - 1;
}

/** What the decoder is told before the text. */
export function steering(vocabulary: Vocabulary, { language, translate }: Pick<ReadOptions, "language" | "translate">) {
  const token = language === undefined ? undefined : vocabulary.languages.get(language);
  if (token === undefined) return [vocabulary.start];
  return [vocabulary.start, token, translate ? vocabulary.translate : vocabulary.transcribe];
}

async function readOnce(
  network: WhisperNetwork,
  vocabulary: Vocabulary,
  heard: Heard,
  options: ReadOptions,
  signal: AbortSignal,
): Promise<WindowText | undefined> {
  const { prompt, temperature, random } = options;
  const before = prompt.length === 0 ? [] : [vocabulary.startOfPrevious, ...prompt];
  const head = [...before, ...steering(vocabulary, options)];
  const passage = network.passage(heard);
  const [atStart, next] = await passage.read(head, [before.length, head.length - 1]);
  if (atStart === undefined || next === undefined) throw new Error("The decoder gave no logits");
  const noSpeechProbability = probabilityOf(atStart, vocabulary.noSpeech);
  const tokens: number[] = [];
  let logits = next;
  let sum = 0;
  for (;;) {
    if (signal.aborted) return undefined;
    // A copy, for the first row may be the same as the one before.
    const allowed = Float32Array.from(logits);
    applyRules(allowed, tokens, vocabulary);
    const { token, logProbability } = chooseToken(allowed, temperature, random);
    sum += logProbability;
    if (token === vocabulary.endOfText) break;
    tokens.push(token);
    if (tokens.length >= network.shape.textContext / 2) break;
    [logits = next] = await passage.read([token], [0]);
  }
  const averageLogProbability = sum / (tokens.length + 1);
  return { tokens, averageLogProbability, noSpeechProbability, temperature };
}

function isGood(text: WindowText, vocabulary: Vocabulary): boolean {
  return text.averageLogProbability >= LEAST_LOG_PROBABILITY && compressionOf(text, vocabulary) <= MOST_COMPRESSION;
}

function compressionOf({ tokens }: WindowText, vocabulary: Vocabulary): number {
  const bytes = Buffer.from(vocabulary.decode(tokens));
  return bytes.length / deflateSync(bytes).length;
}
