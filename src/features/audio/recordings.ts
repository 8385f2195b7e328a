/** Transcripts of recordings in chats, for models that read only texts. */

import { openAsBlob } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Decoder } from "@parlance-inference/audio/decode";
import type { FastifyReply } from "fastify";
import type { Caller } from "../../contracts/caller.ts";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { makeUploadFolder } from "../../http/upload.ts";
import type { Inference } from "../../inference/inference.ts";
import { Fault, invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { startConverter } from "../../kernel/process/child.ts";
import type { MediaPart } from "../../wire/media-parts.ts";
import { transcriptText } from "../../wire/openai/audio/transcription-answer.ts";
import { withAudioFaults } from "./audio-faults.ts";

export interface RecordingsOptions {
  inference: Pick<Inference, "transcribe"> & { models: Pick<Inference["models"], "first"> };
  /** Folder of temporary files. */
  directory: string;
  /** Command of FFmpeg, for formats that the built-in decoders do not read. */
  ffmpeg: string | undefined;
  maxAudioSeconds: number;
}

const SAMPLE_RATE = 16_000;

export class Recordings implements AsyncDisposable {
  readonly #options: RecordingsOptions;
  readonly #decoder: Decoder;

  constructor(options: RecordingsOptions) {
    this.#options = options;
    this.#decoder = new Decoder({
      folder: options.directory,
      ffmpeg: options.ffmpeg,
      startProcess: startConverter,
    });
  }

  /** Runs the caller's first transcription model, as a request of its key. Throws a Fault. */
  async transcribe(reply: FastifyReply, { data, filename, param }: MediaPart, signal: AbortSignal): Promise<string> {
    const { inference, directory, maxAudioSeconds } = this.#options;
    const { caller, headers: callerHeaders } = reply.request;
    const model = this.#modelOf(caller, param);
    const folder = await makeUploadFolder(directory);
    try {
      const path = join(folder, "audio");
      await writeFile(path, data, { encoding: "base64" });
      const decoding = { path, sampleRate: SAMPLE_RATE, maxSeconds: maxAudioSeconds };
      const samples = withAudioFaults(this.#decoder.decode(decoding, signal));
      const file = { name: filename, bytes: Buffer.byteLength(data, "base64"), open: () => openAsBlob(path) };
      const request = { model, samples, file, callerHeaders, language: undefined, prompt: undefined };
      const options = { translate: false, temperature: 0, wordTimes: false, stream: false };
      // The answer to the request is the chat's, and so is the settlement that its log shows.
      const answer = await inference.transcribe(caller, { ...request, ...options }, (leave) =>
        onDisconnect(reply)(leave),
      );
      return `Transcript of a recording:\n${await transcriptText(answer.events)}`;
    } catch (failure) {
      if (!(failure instanceof Fault) || failure.param !== "file") throw failure;
      throw invalidRequest(failure.message, param, "invalid_value");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#decoder.close();
  }

  #modelOf(caller: Caller, param: string): string {
    try {
      return this.#options.inference.models.first(caller, "transcription");
    } catch (failure) {
      if (!(failure instanceof Fault)) throw failure;
      const message =
        "This model reads texts only, and this key can use no transcription model that would write the recording down. Send its text, or use a model that takes audio (input_audio).";
      throw unsupportedValue(message, param);
    }
  }
}
