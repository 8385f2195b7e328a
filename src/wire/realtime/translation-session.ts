/**
 * Sessions of the Realtime API that translate speech: their configuration, events and answers. Here such a session is a
 * voice session whose model answers each turn with its translation.
 */

import { z } from "zod";
import { invalidRequest } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { optional } from "../openai/optional.ts";
import { unknownMembers } from "../openai/unknown-fields.ts";
import { parse } from "../openai/validate.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { bindSession } from "./bind-session.ts";
import { secretLifetime } from "./client-secret.ts";
import { defaultSettings, type SessionSettings } from "./session-settings.ts";
import { TurnDetectionField } from "./turn-detection.ts";

const LANGUAGES = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });
const DEFAULT_LANGUAGE = "en";
/** Longest code: ICU compares each variant of a code with those before it, which takes seconds for thousands. */
const MAX_LANGUAGE = 100;
/** Shorter pauses end a turn than in a talk: its translation begins then. */
const SILENCE_MS = 400;

const Language = z.string().refine((code) => languageName(code) !== undefined, {
  error: "it must be the code of a language, such as es or pt-BR",
});

const Audio = lazy.object(() => ({
  input: optional(z.object({ transcription: z.object({ model: optional(z.string().min(1)) }).nullish() })),
  output: optional(z.object({ language: optional(Language) })),
}));

export const TranslationConfiguration = lazy.object(() => ({
  type: optional(z.literal("translation")),
  model: optional(z.string().min(1)),
  audio: optional(Audio),
}));
export type TranslationConfiguration = Partial<z.output<typeof TranslationConfiguration>>;

export const TranslationSecretBody = named(
  "TranslationClientSecretBody",
  lazy.object(() => ({ expires_after: secretLifetime, session: TranslationConfiguration })),
);

const event_id = optional(z.string().max(512));
const Update = lazy.object(() => ({ type: z.literal("translation").optional(), audio: optional(Audio) }));

export const TranslationEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("session.update"), event_id, session: Update }),
  lazy.object(() => ({ type: z.literal("session.input_audio_buffer.append"), event_id, audio: z.string() })),
  z.object({ type: z.literal("session.close"), event_id }),
]);
export type TranslationEvent = z.output<typeof TranslationEvent>;

const TranslationSession = named(
  "RealtimeTranslationSession",
  lazy.object(() => ({
    id: z.string(),
    type: z.literal("translation"),
    expires_at: z.int().describe("Unix seconds; 0 before the session begins."),
    model: z.string(),
    audio: z.object({
      input: z.object({
        transcription: z.object({ model: z.string().optional() }).nullable(),
        noise_reduction: z.null(),
      }),
      output: z.object({ language: z.string() }),
    }),
  })),
);

export const TranslationClientSecret = named(
  "TranslationClientSecret",
  lazy.object(() => ({
    value: z.string(),
    expires_at: z.int().describe("Unix seconds."),
    session: TranslationSession,
  })),
);

/** Settings of a session, complete. */
export interface TranslationSettings {
  /** Chat model. */
  model: string;
  /** Code of the language that is spoken to the listener. */
  language: string;
  /** Null: transcripts of what was said are not sent. */
  transcription: { model?: string | undefined } | null;
}

function languageName(code: string): string | undefined {
  if (code.length > MAX_LANGUAGE) return undefined;
  try {
    return LANGUAGES.of(code);
  } catch {
    return undefined;
  }
}

/** Returns the paths of members of a configuration without effect, such as `session.audio.input.noise_reduction`. */
export function ignoredTranslationFields(value: unknown): string[] {
  const session = Object(value) as { audio?: { input?: object } };
  const input = session.audio?.input;
  return [
    ...unknownMembers([session], "session", ["type", "model", "audio"]),
    ...(input === undefined ? [] : unknownMembers([Object(input)], "session.audio.input", ["transcription"])),
  ];
}

/** Throws a Fault for a session without its model. */
export function toTranslationSettings({ model, audio }: TranslationConfiguration): TranslationSettings {
  if (model === undefined) {
    const message = "Name the chat model that translates: wss://…/v1/realtime/translations?model=MODEL.";
    throw invalidRequest(message, "session.model", "model_required");
  }
  const start = { model, language: DEFAULT_LANGUAGE, transcription: null };
  return updateTranslation(start, { audio });
}

/** Returns the settings with the fields of an update. */
export function updateTranslation(
  current: TranslationSettings,
  { audio }: Pick<TranslationConfiguration, "audio">,
): TranslationSettings {
  const { input, output } = audio ?? {};
  return {
    model: current.model,
    language: output?.language ?? current.language,
    transcription: input?.transcription === undefined ? current.transcription : input.transcription,
  };
}

/**
 * Returns the configuration of a session that a key or a client secret opened; `secretSession`: that of the secret, as
 * JSON. Throws a Fault, also for another model than the secret's.
 */
export function translationOf(
  model: string | undefined,
  secretSession: string | undefined,
): { configuration: TranslationConfiguration; fixed: TranslationConfiguration | undefined } {
  const sent = model === undefined ? {} : { model };
  if (secretSession === undefined) return { configuration: sent, fixed: undefined };
  const secret = JSON.parse(secretSession) as { type?: string };
  if (secret.type !== "translation") {
    const message = "This client secret is for sessions of /v1/realtime, not of /v1/realtime/translations.";
    throw invalidRequest(message, "session.type", "invalid_value");
  }
  const fixed = parse(TranslationConfiguration, secret);
  return { configuration: bindSession(sent, fixed, "session"), fixed };
}

/** Returns the voice session that translates. `voice`: one that speaks the language. */
export function toVoiceSettings(
  { model, language, transcription }: TranslationSettings,
  voice: string | undefined,
): SessionSettings {
  const settings = defaultSettings("realtime");
  const behavior = { create_response: false, interrupt_response: false, silence_duration_ms: SILENCE_MS };
  return {
    ...settings,
    model,
    instructions: `You are an interpreter. Translate what the user says into ${languageName(language)} (${language}). Answer with the translation alone: no comments, no quotation marks, no answers to what is said. Text that is in ${languageName(language)} already is repeated as it is.`,
    transcription: transcription?.model === undefined ? {} : { model: transcription.model },
    turnDetection: TurnDetectionField.parse({ type: "server_vad", ...behavior }),
    voice: voice ?? settings.voice,
  };
}

/** Renders the session. `expiresAt` (epoch milliseconds) is undefined before it has begun. */
export function toTranslationSession(
  { model, language, transcription }: TranslationSettings,
  { id, expiresAt }: { id: string; expiresAt: number | undefined },
): AnswerOf<typeof TranslationSession> {
  return {
    id,
    type: "translation",
    expires_at: expiresAt === undefined ? 0 : Math.floor(expiresAt / 1000),
    model,
    audio: { input: { transcription, noise_reduction: null }, output: { language } },
  };
}
