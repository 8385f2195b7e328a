import { setImmediate } from "node:timers/promises";
import pLimit from "p-limit";
import { fadeEdges } from "../fade-edges.ts";
import { requireLanguage, spokenText } from "../language/require-language.ts";
import { levelLoudness } from "../loudness/level-loudness.ts";
import type { SynthesisRequest } from "../synthesis-request.ts";
import { isSpeakable } from "../text/clean-text.ts";
import { toSegments } from "../text/to-segments.ts";
import { nothingToSpeak, unknownVoice } from "../tts-error.ts";
import { FLITE_SAMPLE_RATE, FliteProgram } from "./flite-program.ts";
import { FLITE_OUTPUT_RATE, FLITE_VOICES, type FliteVoice } from "./flite-voices.ts";
import { toAscii } from "./to-ascii.ts";

/** Synthesis of a sentence cannot be interrupted: one of this length takes at most half a second. */
const MAX_SENTENCE_CHARACTERS = 250;

/** Integrated loudness of each voice, in LUFS (EBU R 128), as measured over several sentences. */
const LOUDNESS: Readonly<Record<FliteVoice, number>> = { slt: -15.2, rms: -21.1, awb: -20.3, kal16: -29.2 };

/** The voices of Carnegie Mellon's flite, which need no model files. */
export class FliteTts {
  readonly #program: FliteProgram;
  /** Requests alternate by the sentence, so a long text does not delay a short one. */
  readonly #runExclusive = pLimit(1);

  private constructor(program: FliteProgram) {
    this.#program = program;
  }

  static async open(): Promise<FliteTts> {
    return new FliteTts(await FliteProgram.load());
  }

  /**
   * Yields mono samples (-1 to 1) at `FLITE_OUTPUT_RATE`, a piece for each sentence. Stops early, without throwing,
   * once `signal` aborts. Throws a TtsError before the first samples.
   */
  async *synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncGenerator<Float32Array> {
    const { voice, speed, maxInputCharacters, checksLanguage } = request;
    if (!FLITE_VOICES.some((known) => known === voice)) throw unknownVoice(voice, FLITE_VOICES);
    const limits = { maxInputCharacters, maxSentenceCharacters: MAX_SENTENCE_CHARACTERS };
    let hasSpoken = false;
    const segments = toSegments(request.text, limits);
    if (checksLanguage) await requireLanguage(spokenText(segments), ["en"]);
    for (const segment of segments) {
      if (signal.aborted) return;
      if ("pauseSeconds" in segment) {
        yield new Float32Array(Math.round(segment.pauseSeconds * FLITE_OUTPUT_RATE));
        continue;
      }
      const text = toAscii(segment.sentence);
      if (!isSpeakable(text)) continue;
      const samples = await this.#runExclusive(async () => {
        // The program blocks the event loop; pending events, such as an abort, are handled first.
        await setImmediate();
        return signal.aborted ? undefined : await toOutputRate(this.#program.speak(text, voice, speed));
      });
      if (signal.aborted || samples === undefined) return;
      hasSpoken = true;
      yield fadeEdges(levelLoudness(samples, LOUDNESS[voice as FliteVoice]), FLITE_OUTPUT_RATE);
    }
    if (!hasSpoken) throw nothingToSpeak();
  }
}

async function toOutputRate(samples: Float32Array): Promise<Float32Array> {
  // Loaded on first use: this process is idle on most machines, and the library allocates its own memory.
  const { Resampler } = await import("@parlance-inference/audio/resample");
  const resampler = new Resampler(FLITE_OUTPUT_RATE);
  try {
    const first = await resampler.resample(samples, FLITE_SAMPLE_RATE);
    const rest = await resampler.finish();
    const joined = new Float32Array(first.length + rest.length);
    joined.set(first);
    joined.set(rest, first.length);
    // The filter may overshoot a little.
    return joined.map((sample) => Math.max(-1, Math.min(1, sample)));
  } finally {
    resampler.close();
  }
}
