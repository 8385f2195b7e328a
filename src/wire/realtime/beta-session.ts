/** Sessions in the form that the Realtime API had in its beta: POST /v1/realtime/sessions and /transcription_sessions. */

import { z } from "zod";
import { newId } from "../../kernel/id.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { optional } from "../openai/optional.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { withoutSecrets } from "./mcp-items.ts";
import { transcriptionAnswer, turnDetectionAnswer } from "./session-answers.ts";
import {
  MaxOutputTokens,
  type RealtimeAudioFormat,
  RealtimeToolChoice,
  RealtimeTools,
  type SessionConfiguration,
  type SessionSettings,
  Transcription,
  Voice,
} from "./session-settings.ts";
import { TurnDetectionField } from "./turn-detection.ts";

const FORMATS: Readonly<Record<z.output<typeof Format>, RealtimeAudioFormat>> = {
  pcm16: { type: "audio/pcm", rate: 24_000 },
  g711_ulaw: { type: "audio/pcmu" },
  g711_alaw: { type: "audio/pcma" },
};
const Format = z.enum(["pcm16", "g711_ulaw", "g711_alaw"]);

const secretLife = optional(
  z.object({
    expires_after: optional(
      z.object({ anchor: z.literal("created_at").optional(), seconds: optional(z.int().min(10).max(7200)) }),
    ),
  }),
);
const input = {
  input_audio_format: optional(Format),
  input_audio_transcription: Transcription.nullish(),
  turn_detection: TurnDetectionField.nullish(),
  client_secret: secretLife,
};

export const BetaSessionBody = named(
  "RealtimeBetaSessionBody",
  lazy.object(() => ({
    model: optional(z.string().min(1)),
    modalities: optional(
      listOf(z.enum(["text", "audio"]))
        .min(1)
        .max(2),
    ),
    instructions: optional(z.string()),
    voice: optional(Voice),
    output_audio_format: optional(Format),
    speed: optional(z.number().min(0.25).max(1.5)),
    tools: optional(RealtimeTools),
    tool_choice: optional(RealtimeToolChoice),
    max_response_output_tokens: optional(MaxOutputTokens),
    truncation: optional(z.enum(["auto", "disabled"])),
    prompt: z.null({ error: "there are no stored prompts here; use 'instructions'" }).optional(),
    ...input,
  })),
);

export const BetaTranscriptionSessionBody = named(
  "RealtimeBetaTranscriptionSessionBody",
  lazy.object(() => ({
    ...input,
    include: optional(listOf(z.string()).max(0, { error: "models here report no log probabilities of transcripts" })),
  })),
);

type BetaSessionBody = z.output<typeof BetaSessionBody>;
type BetaTranscriptionSessionBody = z.output<typeof BetaTranscriptionSessionBody>;

const clientSecret = z.object({
  value: z.string().describe("The secret, which begins with `ek_`."),
  expires_at: z.int().min(0).describe("Seconds since 1970."),
});
const inputAnswer = {
  id: z.string(),
  input_audio_format: Format,
  input_audio_transcription: transcriptionAnswer,
  turn_detection: turnDetectionAnswer,
  client_secret: clientSecret,
};

export const BetaSession = named(
  "RealtimeBetaSession",
  lazy.object(() => ({
    object: z.literal("realtime.session"),
    ...inputAnswer,
    model: z.string().optional(),
    modalities: z.array(z.enum(["text", "audio"])),
    instructions: z.string(),
    voice: z.string(),
    output_audio_format: Format,
    speed: z.number(),
    tools: z.array(z.record(z.string(), z.unknown())),
    tool_choice: z.union([z.string(), z.record(z.string(), z.unknown())]),
    max_response_output_tokens: z.union([z.literal("inf"), z.int()]),
    truncation: z.string(),
  })),
);

export const BetaTranscriptionSession = named(
  "RealtimeBetaTranscriptionSession",
  lazy.object(() => ({ object: z.literal("realtime.transcription_session"), ...inputAnswer })),
);

/** Returns the configuration in the present form. Transcripts of a voice session are off unless asked for. */
export function toSessionConfiguration(body: BetaSessionBody): SessionConfiguration {
  const { modalities, tool_choice: choice } = body;
  return {
    type: "realtime",
    model: body.model,
    instructions: body.instructions,
    output_modalities: modalities && [modalities.includes("audio") ? "audio" : "text"],
    audio: {
      input: { ...toInput(body), transcription: body.input_audio_transcription ?? null },
      output: { format: formatOf(body.output_audio_format), voice: body.voice, speed: body.speed, model: undefined },
    },
    tools: body.tools,
    tool_choice: choice,
    max_output_tokens: body.max_response_output_tokens,
    truncation: body.truncation,
  };
}

export function toTranscriptionConfiguration(body: BetaTranscriptionSessionBody): SessionConfiguration {
  const transcription = body.input_audio_transcription ?? undefined;
  return { type: "transcription", audio: { input: { ...toInput(body), transcription } } };
}

/** Paths of fields of a body without effect. */
export function ignoredBetaFields(body: unknown, schema: typeof BetaSessionBody | typeof BetaTranscriptionSessionBody) {
  return Object.entries(Object(body)).flatMap(([name, value]) =>
    value === null || Object.hasOwn(schema.shape, name) ? [] : [name],
  );
}

export function toBetaSession(
  settings: SessionSettings,
  secret: { value: string; expiresAt: number },
): AnswerOf<typeof BetaSession> {
  return {
    object: "realtime.session" as const,
    ...toInputAnswer(settings, secret),
    model: settings.model,
    modalities: settings.outputModality === "audio" ? (["text", "audio"] as const) : (["text"] as const),
    instructions: settings.instructions,
    voice: settings.voice,
    output_audio_format: nameOf(settings.outputFormat),
    speed: settings.speed,
    tools: settings.tools.map(withoutSecrets),
    tool_choice: settings.toolChoice,
    max_response_output_tokens: settings.maxOutputTokens,
    truncation: settings.truncation,
  };
}

export function toBetaTranscriptionSession(
  settings: SessionSettings,
  secret: { value: string; expiresAt: number },
): AnswerOf<typeof BetaTranscriptionSession> {
  return { object: "realtime.transcription_session" as const, ...toInputAnswer(settings, secret) };
}

function toInput(body: Omit<BetaTranscriptionSessionBody, "include">) {
  return { format: formatOf(body.input_audio_format), turn_detection: body.turn_detection };
}

function toInputAnswer(settings: SessionSettings, { value, expiresAt }: { value: string; expiresAt: number }) {
  const { transcription } = settings;
  return {
    id: newId("sess_"),
    input_audio_format: nameOf(settings.inputFormat),
    input_audio_transcription: transcription && { ...transcription, prompt: transcription.prompt ?? "" },
    turn_detection: settings.turnDetection,
    client_secret: { value, expires_at: Math.floor(expiresAt / 1000) },
  };
}

function formatOf(name: z.output<typeof Format> | undefined): RealtimeAudioFormat | undefined {
  return name && FORMATS[name];
}

function nameOf({ type }: RealtimeAudioFormat): z.output<typeof Format> {
  return Format.options.find((name) => FORMATS[name].type === type) ?? "pcm16";
}
