import { openAsBlob } from "node:fs";
import { dirname } from "node:path";
import type { Decoder } from "@parlance-inference/audio/decode";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { projectOf } from "../../contracts/caller.ts";
import { takeMultipart } from "../../http/form-scopes.ts";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { rawOperation, routes } from "../../http/operation.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import { receiveUpload, requireFile, type Upload, type UploadOptions } from "../../http/upload.ts";
import type { Inference } from "../../inference/inference.ts";
import { Transcript, TranscriptEvent } from "../../wire/openai/audio/audio-answers.ts";
import { TRANSCRIPT_TYPES, toTranscript, toTranscriptEvents } from "../../wire/openai/audio/transcription-answer.ts";
import {
  type ParsedTranscription,
  TranscriptionBody,
  TranslationBody,
  toTranscription,
  toTranslation,
} from "../../wire/openai/audio/transcription-body.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import { withAudioFaults } from "./audio-faults.ts";
import { SpeakerReferences } from "./speaker-references.ts";

export interface TranscriptionParts {
  decoder: Decoder;
  uploads: UploadOptions;
  /** Maximum length of a recording. */
  maxAudioSeconds: number;
  unknownFields: UnknownFieldsPolicy;
}

const SAMPLE_RATE = 16_000;

/** POST /v1/audio/transcriptions and /v1/audio/translations */
export function audioTranscriptions(inference: Inference, parts: TranscriptionParts): FastifyPluginAsync {
  const { decoder, uploads, maxAudioSeconds, unknownFields } = parts;
  const references = new SpeakerReferences(decoder);
  const transcribe = async (
    request: FastifyRequest,
    reply: FastifyReply,
    read: (upload: Upload) => ParsedTranscription,
  ) => {
    const onLeave = onDisconnect(reply);
    const controller = new AbortController();
    onLeave(() => controller.abort());
    decoder.warm();
    const upload = await receiveUpload(request, reply, uploads);
    const parsed = read(upload);
    const file = requireFile(upload);
    request.record.model = parsed.model;
    reportIgnoredFields(reply, parsed.ignoredFields);
    const options = { path: file.path, sampleRate: SAMPLE_RATE, maxSeconds: maxAudioSeconds };
    const samples = withAudioFaults(decoder.decode(options, controller.signal));
    const original = { name: file.name, bytes: file.bytes, open: () => openAsBlob(file.path) };
    const common = { model: parsed.model, file: original, samples, callerHeaders: request.headers };
    const known = parsed.request.speakers;
    const place = { project: projectOf(request.caller), folder: dirname(file.path) };
    const readVoices = (signal: AbortSignal) => references.read(known?.references ?? [], { ...place, signal });
    const speakers = known && { ...known, readVoices };
    const transcription = { ...parsed.request, ...common, speakers };
    const answer = await inference.transcribe(request.caller, transcription, onLeave);
    if (parsed.stream)
      return sendAnswer(reply, answer, { events: toTranscriptEvents(answer.events, parsed.lists.words) });
    const body = toTranscript(answer.events, parsed);
    return sendAnswer(reply, answer, { body, contentType: TRANSCRIPT_TYPES[parsed.format] });
  };

  return routes(
    takeMultipart,
    rawOperation(
      "POST /audio/transcriptions",
      {
        summary: "Transcribes a recording in its language.",
        tag: "Audio",
        permission: "project",
        counts: "by-handler",
        form: TranscriptionBody,
        answer: Transcript,
        content: ["text/plain", "text/vtt", "text/event-stream"],
        events: TranscriptEvent,
      },
      (request, reply) => transcribe(request, reply, ({ fields }) => toTranscription(fields, unknownFields)),
    ),
    rawOperation(
      "POST /audio/translations",
      {
        summary: "Transcribes a recording into English.",
        tag: "Audio",
        permission: "project",
        counts: "by-handler",
        form: TranslationBody,
        answer: Transcript,
        content: ["text/plain", "text/vtt", "text/event-stream"],
        events: TranscriptEvent,
      },
      (request, reply) => transcribe(request, reply, ({ fields }) => toTranslation(fields, unknownFields)),
    ),
  );
}
