/** Speech model for tests and demos: plays a tone for each sentence, with a duration in proportion to its text. */

import { setTimeout as delay } from "node:timers/promises";
import { sentenceWords } from "@parlance-inference/english-tts/sentence-words";
import {
  type Segment,
  type TracedSegment,
  toSegments,
  toTracedSegments,
} from "@parlance-inference/english-tts/to-segments";
import type { ModelHealth } from "../../contracts/open-model.ts";
import type { SpeechEvent, SpeechModel, SpeechRequest } from "../../contracts/speech-model.ts";
import type { TranscriptWord } from "../../contracts/transcription-model.ts";
import { unavailable } from "../../kernel/faults.ts";
import { withSpeechFaults } from "../shared/speech-faults.ts";
import { completeAliases, resolveVoice } from "../shared/voices.ts";
import type { ScriptedSpeechSettings } from "./settings.ts";

const MAX_SENTENCE_CHARACTERS = 300;
const SECONDS_PER_CHARACTER = 0.05;
const BASE_HERTZ = 220;

export class ScriptedSpeech implements SpeechModel {
  readonly task = "speech";
  readonly device = "cpu";
  readonly slots: number;
  readonly voices: readonly string[];
  readonly voiceAliases: Readonly<Record<string, string>>;
  readonly languages = undefined;
  readonly sampleRate: number;
  readonly wordTimes = true;
  readonly #settings: ScriptedSpeechSettings;
  readonly #closing = new AbortController();

  constructor(settings: ScriptedSpeechSettings, slots: number) {
    this.#settings = settings;
    this.slots = slots;
    this.voices = settings.voices;
    this.voiceAliases = completeAliases(settings.voices, {}, {});
    this.sampleRate = settings.sampleRate;
  }

  health(): ModelHealth {
    if (this.#closing.signal.aborted) return { state: "failed", reason: "it has been closed", retryAfterSeconds: 1 };
    return { state: "up" };
  }

  async close(): Promise<void> {
    this.#closing.abort();
  }

  speak(request: SpeechRequest, signal: AbortSignal): AsyncGenerator<SpeechEvent> {
    return withSpeechFaults(this.#speak(request, signal));
  }

  async *#speak({ text, voice, speed, wordTimes, rewritten }: SpeechRequest, signal: AbortSignal) {
    const voiceName = resolveVoice(voice, { voices: this.voices, aliases: this.voiceAliases });
    const hertz = BASE_HERTZ * (1 + this.voices.indexOf(voiceName));
    const { maxInputCharacters, delayMsBeforeFirst, delayMsPerSentence } = this.#settings;
    const limits = { maxInputCharacters: maxInputCharacters, maxSentenceCharacters: MAX_SENTENCE_CHARACTERS };
    const until = AbortSignal.any([signal, this.#closing.signal]);
    const segments: (Segment | TracedSegment)[] =
      wordTimes === true ? toTracedSegments(text, limits, rewritten) : toSegments(text, limits);
    let spokenSeconds = 0;
    for (const [index, segment] of segments.entries()) {
      const milliseconds = index === 0 ? delayMsBeforeFirst : delayMsPerSentence;
      if (milliseconds > 0) await delay(milliseconds, undefined, { signal: until }).catch(() => {});
      if (signal.aborted) return;
      if (this.#closing.signal.aborted) throw unavailable("The scripted model has been closed.", "engine_failed", 1);
      const secondsPerCharacter = SECONDS_PER_CHARACTER / speed;
      const seconds = "sentence" in segment ? segment.sentence.length * secondsPerCharacter : segment.pauseSeconds;
      if ("written" in segment) yield { words: timeWords(segment, spokenSeconds, secondsPerCharacter) };
      yield tone("sentence" in segment ? hertz : 0, seconds, this.sampleRate);
      spokenSeconds += seconds;
    }
  }
}

function timeWords(
  sentence: Parameters<typeof sentenceWords>[0],
  startSeconds: number,
  secondsPerCharacter: number,
): TranscriptWord[] {
  let start = startSeconds;
  return sentenceWords(sentence, "en").map(({ written, text }) => {
    const word = { word: written, startSeconds: start, endSeconds: start + text.length * secondsPerCharacter };
    // The words are a space apart.
    start = word.endSeconds + secondsPerCharacter;
    return word;
  });
}

function tone(hertz: number, seconds: number, sampleRate: number): Float32Array {
  const step = (2 * Math.PI * hertz) / sampleRate;
  return Float32Array.from({ length: Math.round(seconds * sampleRate) }, (_, index) => 0.3 * Math.sin(step * index));
}
