import { encodeAudio } from "@parlance-inference/audio/encode";
import { audioContentType, encodingDelaySeconds } from "@parlance-inference/audio/formats";
import type { FastifyPluginAsync } from "fastify";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { operation, routes } from "../../http/operation.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import type { Inference } from "../../inference/inference.ts";
import { SpeechEvent } from "../../wire/openai/audio/audio-answers.ts";
import {
  SpeechBody,
  toSpeechEvents,
  toSpeechRequest,
  UNSUPPORTED_SPEECH_FIELDS,
} from "../../wire/openai/audio/speech.ts";
import { checkUnknownFields, type UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import { TimedSpeech } from "./timed-speech.ts";

/** POST /v1/audio/speech */
export function audioSpeech(inference: Inference, policy: UnknownFieldsPolicy): FastifyPluginAsync {
  return routes(
    operation(
      "POST /audio/speech",
      {
        summary: "Synthesizes speech.",
        tag: "Audio",
        permission: "project",
        counts: "by-handler",
        body: SpeechBody,
        content: ["audio/mpeg", "audio/ogg", "audio/aac", "audio/flac", "audio/wav", "audio/pcm", "text/event-stream"],
        events: SpeechEvent,
      },
      async ({ body, caller, request, reply }) => {
        const fields = Object.keys(SpeechBody.shape);
        const rules = { known: fields, unsupported: UNSUPPORTED_SPEECH_FIELDS, policy };
        const ignoredFields = checkUnknownFields(request.body, rules);
        request.record.model = body.model;
        const speech = { ...toSpeechRequest(body), callerHeaders: request.headers };
        const answer = await inference.speak(caller, speech, onDisconnect(reply));
        // Only models of upstreams have styles; clients send instructions by default.
        const isPlain = speech.instructions !== undefined && !answer.isUpstream;
        reportIgnoredFields(reply, isPlain ? [...ignoredFields, "instructions"] : ignoredFields);
        const format = body.response_format ?? "mp3";
        const { sampleRate } = answer;
        const isStreamed = body.stream_format === "sse";
        const timed = new TimedSpeech(answer.events, encodingDelaySeconds(format, sampleRate));
        const audio = encodeAudio(timed.samples(), { format, sampleRate, isSeekable: !isStreamed });
        if (isStreamed) {
          return sendAnswer(reply, answer, { events: toSpeechEvents(audio, answer.used, () => timed.takeWords()) });
        }
        return sendAnswer(reply, answer, { bytes: audio, contentType: audioContentType(format, sampleRate) });
      },
    ),
  );
}
