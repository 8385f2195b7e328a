/** A speech model that hums: a tone for each sentence, as long as its text. */

import { setTimeout as delay } from "node:timers/promises";
import { unavailable } from "../../faults.ts";
import { toSpokenPieces } from "../../speech-text/speech-text.ts";
import type { SpeechModel, SpeechRequest } from "../engine.ts";
import type { ModelHealth } from "../open-model.ts";
import { completeAliases, instructionsUnsupported, resolveVoice } from "../voices.ts";
import type { ScriptedSpeechSettings } from "./settings.ts";

const MOST_PIECE_CHARACTERS = 300;
const SECONDS_PER_CHARACTER = 0.05;
const LOWEST_HERTZ = 220;

export class ScriptedSpeech implements SpeechModel {
  readonly task = "speech";
  readonly device = "cpu";
  readonly slots: number;
  readonly voices: readonly string[];
  readonly voiceAliases: Readonly<Record<string, string>>;
  readonly sampleRate: number;
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

  async *speak({ text, voice, speed, instructions }: SpeechRequest, signal: AbortSignal): AsyncGenerator<Float32Array> {
    if (instructions !== undefined) throw instructionsUnsupported();
    const own = resolveVoice(voice, { voices: this.voices, aliases: this.voiceAliases });
    const hertz = LOWEST_HERTZ * (1 + this.voices.indexOf(own));
    const { mostInputCharacters, delayMsBeforeFirst, delayMsPerSentence } = this.#settings;
    const pieces = toSpokenPieces(text, { mostInputCharacters, mostPieceCharacters: MOST_PIECE_CHARACTERS });
    const until = AbortSignal.any([signal, this.#closing.signal]);
    for (const [index, piece] of pieces.entries()) {
      const milliseconds = index === 0 ? delayMsBeforeFirst : delayMsPerSentence;
      if (milliseconds > 0) await delay(milliseconds, undefined, { signal: until }).catch(() => {});
      if (signal.aborted) return;
      if (this.#closing.signal.aborted) throw unavailable("The scripted model has been closed.", "engine_failed", 1);
      yield tone(hertz, (piece.length * SECONDS_PER_CHARACTER) / speed, this.sampleRate);
    }
  }
}

function tone(hertz: number, seconds: number, sampleRate: number): Float32Array {
  const step = (2 * Math.PI * hertz) / sampleRate;
  return Float32Array.from({ length: Math.round(seconds * sampleRate) }, (_, index) => 0.3 * Math.sin(step * index));
}
