import { setImmediate } from "node:timers/promises";
import { invalidRequest } from "../../faults.ts";
import { isSpeakable } from "../../speech-text/clean-text.ts";
import { smoothEdges } from "../../speech-text/smooth-edges.ts";
import { toSpokenPieces } from "../../speech-text/speech-text.ts";
import type { SpeechModel, SpeechRequest } from "../engine.ts";
import type { HostedModule } from "../host/model-child.ts";
import type { ModelHealth } from "../open-model.ts";
import { Turns } from "../turns.ts";
import { completeAliases, instructionsUnsupported, resolveVoice } from "../voices.ts";
import type { FliteSettings } from "./flite-engine.ts";
import { FLITE_SAMPLE_RATE, FliteProgram } from "./flite-program.ts";
import { toPlainEnglish } from "./plain-english.ts";

/** An American woman and man, a Scot, and a man of fewer and shorter recordings, who sounds the least natural. */
const VOICES = ["slt", "rms", "awb", "kal16"] as const;

/** OpenAI's voices by the gender that they are known for; `fable` is the one with a British accent. */
const USUAL_ALIASES: Readonly<Record<string, (typeof VOICES)[number]>> = {
  ash: "rms",
  ballad: "awb",
  cedar: "rms",
  echo: "kal16",
  fable: "awb",
  onyx: "rms",
  verse: "awb",
};

/** The rate of `pcm` that clients expect when they are told nothing, and that of the voices that flite stands in for. */
const SAMPLE_RATE = 24_000;

/** A piece is not given up before it is done: the longest of this length takes half a second. */
const MOST_PIECE_CHARACTERS = 250;

export class FliteSpeech implements SpeechModel {
  readonly task = "speech";
  readonly device = "cpu";
  readonly slots: number;
  readonly voices: readonly string[] = VOICES;
  readonly voiceAliases: Readonly<Record<string, string>>;
  readonly sampleRate = SAMPLE_RATE;
  readonly #program: FliteProgram;
  readonly #mostInputCharacters: number;
  /** Requests take turns by the piece, so that a long text does not keep a short one waiting. */
  readonly #turns = new Turns();

  private constructor(program: FliteProgram, settings: FliteSettings) {
    this.#program = program;
    this.#mostInputCharacters = settings.mostInputCharacters;
    this.slots = settings.slots;
    this.voiceAliases = completeAliases(VOICES, USUAL_ALIASES, settings.voices);
  }

  static async open(settings: FliteSettings): Promise<FliteSpeech> {
    return new FliteSpeech(await FliteProgram.load(), settings);
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {}

  async *speak({ text, voice, speed, instructions }: SpeechRequest, signal: AbortSignal): AsyncGenerator<Float32Array> {
    if (instructions !== undefined) throw instructionsUnsupported();
    const own = resolveVoice(voice, { voices: VOICES, aliases: this.voiceAliases });
    const limits = { mostInputCharacters: this.#mostInputCharacters, mostPieceCharacters: MOST_PIECE_CHARACTERS };
    let hasSpoken = false;
    for (const piece of toSpokenPieces(text, limits)) {
      const plain = toPlainEnglish(piece);
      if (!isSpeakable(plain)) continue;
      const samples = await this.#turns.take(signal, async () => {
        // The program blocks; what came meanwhile, such as a cancellation, is heard here.
        await setImmediate();
        return signal.aborted ? undefined : await atUsualRate(this.#program.speak(plain, own, speed));
      });
      if (signal.aborted || samples === undefined) return;
      hasSpoken = true;
      yield smoothEdges(samples, SAMPLE_RATE);
    }
    if (!hasSpoken)
      throw invalidRequest("'input' has nothing that this voice, which speaks English, can say.", "input");
  }
}

async function atUsualRate(samples: Float32Array): Promise<Float32Array> {
  // Not before it is needed: this process is idle on most machines, and the library wants memory of its own.
  const { Resampler } = await import("@parlance-inference/audio/resample");
  const resampler = new Resampler(SAMPLE_RATE);
  try {
    const first = await resampler.resample(samples, FLITE_SAMPLE_RATE);
    const rest = await resampler.finish();
    const whole = new Float32Array(first.length + rest.length);
    whole.set(first);
    whole.set(rest, first.length);
    // The filter may overshoot a little.
    return whole.map((sample) => Math.max(-1, Math.min(1, sample)));
  } finally {
    resampler.close();
  }
}

export const open: HostedModule["open"] = (settings) => FliteSpeech.open(settings as FliteSettings);
