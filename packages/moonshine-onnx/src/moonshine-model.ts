/** Transcribes English recordings of any length: finds speech, cuts it at pauses and decodes each segment. */

import { availableParallelism } from "node:os";
import { SAMPLE_RATE } from "@parlance-inference/speech-segmentation/audio-format";
import { filterHallucinations } from "@parlance-inference/speech-segmentation/hallucination-filter";
import { speechOf } from "@parlance-inference/speech-segmentation/speech-of";
import { type EmbedVoice, splitAtVoiceChanges } from "@parlance-inference/speech-segmentation/split-at-voice-changes";
import { tidyPunctuation } from "@parlance-inference/speech-segmentation/tidy-punctuation";
import { VoiceActivityDetector } from "@parlance-inference/speech-segmentation/voice-activity-detector";
import pLimit from "p-limit";
import { checked, type SpeechCheck } from "./checked-speech.ts";
import { decodeSegment } from "./decode-segment.ts";
import { MoonshineNetwork } from "./moonshine-network.ts";
import { MoonshineTokenizer } from "./moonshine-tokenizer.ts";

export interface MoonshineFiles {
  encoder: string;
  /** The merged decoder, which runs with and without a cache. */
  decoder: string;
  /** The source of npm's llama-tokenizer-js, which holds Llama's vocabulary. */
  tokenizer: string;
  /** Silero's voice activity model. */
  vad: string;
}

export interface TranscribeOptions {
  /**
   * Awaited once before the first segment is decoded, with the first seconds of speech; what it throws ends the
   * transcript.
   */
  checkSpeech?: SpeechCheck | undefined;
  /** Gives events a `voice`, and cuts segments where the voice changes. */
  embedVoice?: EmbedVoice | undefined;
}

export type MoonshineEvent =
  | { type: "segment"; startSeconds: number; endSeconds: number; text: string; voice: Float32Array | undefined }
  | { type: "finish"; audioSeconds: number };

/** More threads do not make a segment faster. */
const MAX_DEFAULT_THREADS = 4;

export class MoonshineModel {
  readonly #network: MoonshineNetwork;
  readonly #tokenizer: MoonshineTokenizer;
  readonly #vad: VoiceActivityDetector;
  /** Concurrent recordings take turns segment by segment, because each segment uses all threads. */
  readonly #oneAtATime = pLimit(1);

  private constructor(network: MoonshineNetwork, tokenizer: MoonshineTokenizer, vad: VoiceActivityDetector) {
    this.#network = network;
    this.#tokenizer = tokenizer;
    this.#vad = vad;
  }

  /** `threads` defaults to one per core, at most 4. Throws a ModelFileError. */
  static async load(files: MoonshineFiles, threads = Math.min(MAX_DEFAULT_THREADS, availableParallelism())) {
    const tokenizer = await MoonshineTokenizer.load(files.tokenizer);
    const network = await MoonshineNetwork.load(files, threads);
    const model = new MoonshineModel(network, tokenizer, await VoiceActivityDetector.load(files.vad));
    // The first inference allocates memory and is slower.
    await decodeSegment(network, tokenizer, new Float32Array(SAMPLE_RATE), new AbortController().signal);
    return model;
  }

  /**
   * Streams segments of a recording (mono, 16 kHz, -1 to 1) while it is read, and ends with one `finish`. Stops without
   * throwing once `signal` aborts.
   */
  async *transcribe(
    recording: AsyncIterable<Float32Array>,
    signal: AbortSignal,
    { checkSpeech, embedVoice }: TranscribeOptions = {},
  ): AsyncGenerator<MoonshineEvent> {
    let samplesRead = 0;
    const segments = this.#vad.segments(recording, (samples) => {
      samplesRead = samples;
    });
    const voiced = embedVoice === undefined ? segments : splitAtVoiceChanges(segments, embedVoice);
    for await (const segment of checked(voiced, checkSpeech)) {
      const { samples, speech } = segment;
      const startSeconds = speech[0]?.startSeconds ?? segment.startSeconds;
      const endSeconds = speech.at(-1)?.endSeconds ?? startSeconds;
      const padding = {
        before: Math.round((startSeconds - segment.startSeconds) * SAMPLE_RATE),
        after: Math.round((segment.endSeconds - endSeconds) * SAMPLE_RATE),
      };
      const decoded = await this.#oneAtATime(() =>
        signal.aborted ? undefined : decodeSegment(this.#network, this.#tokenizer, samples, signal, padding),
      );
      if (signal.aborted || decoded === undefined) return;
      const text = tidyPunctuation(filterHallucinations(decoded, samples.length / SAMPLE_RATE));
      if (text === "") continue;
      const voice = await embedVoice?.(speechOf(segment));
      if (signal.aborted) return;
      yield { type: "segment", startSeconds, endSeconds, text, voice };
    }
    if (!signal.aborted) yield { type: "finish", audioSeconds: samplesRead / SAMPLE_RATE };
  }
}
