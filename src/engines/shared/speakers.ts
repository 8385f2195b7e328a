/** Speaker labels for local transcription models, by the voices of their segments. */

import { availableParallelism } from "node:os";
import { SpeakerEncoder } from "@parlance-inference/speaker-embedding/speaker-encoder";
import { type KnownVoice, LiveSpeakers, labelSpeakers } from "@parlance-inference/speaker-embedding/speaker-labels";
import type { EmbedVoice } from "@parlance-inference/speech-segmentation/split-at-voice-changes";
import type {
  TranscriptionEvent,
  TranscriptionRequest,
  TranscriptSegment,
} from "../../contracts/transcription-model.ts";

const MAX_THREADS = 4;

type VoicedSegment = TranscriptSegment & { voice: Float32Array | undefined };
type VoicedEvent = VoicedSegment | Exclude<TranscriptionEvent, { type: "segment" }>;

export class Speakers {
  readonly #path: string;
  readonly #threads: number;
  /** Loaded by the first request that needs it. */
  #encoder: Promise<SpeakerEncoder> | undefined;

  constructor(path: string, threads = Math.min(MAX_THREADS, availableParallelism())) {
    this.#path = path;
    this.#threads = threads;
  }

  /** A failed load is tried again by the next request. */
  #load(): Promise<SpeakerEncoder> {
    this.#encoder ??= SpeakerEncoder.load(this.#path, this.#threads).catch((failure: unknown) => {
      this.#encoder = undefined;
      throw failure;
    });
    return this.#encoder;
  }

  /** Adds speakers to the segments. A stream names them as they speak, otherwise the complete recording is compared. */
  async *label(
    { speakers, stream }: Pick<TranscriptionRequest, "speakers" | "stream">,
    transcribe: (embedVoice: EmbedVoice) => AsyncIterable<VoicedEvent>,
  ): AsyncGenerator<TranscriptionEvent> {
    const encoder = await this.#load();
    const voices: KnownVoice[] = [];
    for (const [index, name] of (speakers?.names ?? []).entries()) {
      const samples = speakers?.voices?.[index];
      if (samples !== undefined) voices.push({ name, voice: await encoder.embed(samples) });
    }
    const live = new LiveSpeakers(voices);
    const segments: VoicedSegment[] = [];
    for await (const event of transcribe((speech) => encoder.embed(speech))) {
      if (event.type === "segment" && stream) yield withSpeaker(event, live.label(toUtterance(event)));
      else if (event.type === "segment") segments.push(event);
      else {
        const labels = labelSpeakers(segments.map(toUtterance), voices);
        for (const [index, segment] of segments.entries()) yield withSpeaker(segment, labels[index]);
        yield event;
      }
    }
  }
}

function toUtterance({ voice, startSeconds, endSeconds }: VoicedSegment) {
  return { voice: voice ?? new Float32Array(0), seconds: endSeconds - startSeconds };
}

function withSpeaker({ voice: _voice, ...segment }: VoicedSegment, speaker: string | undefined): TranscriptSegment {
  return { ...segment, speaker };
}
