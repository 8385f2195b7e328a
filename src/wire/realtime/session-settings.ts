/** Session configuration of the Realtime API: `session.update`, client secrets, and the session object. */

import { z } from "zod";
import { invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { optional } from "../openai/optional.ts";
import { unknownMembers } from "../openai/unknown-fields.ts";
import { parse } from "../openai/validate.ts";
import type { AnswerOf } from "../openapi/named.ts";
import { McpTool, McpToolChoice, withoutSecrets } from "./mcp-items.ts";
import type { ClientSecret } from "./session-answers.ts";
import { TurnDetectionField } from "./turn-detection.ts";

export type SessionType = "realtime" | "transcription";

/** Schema of an audio format: PCM has signed 16-bit little-endian samples at 24 kHz, G.711 has 8 kHz. */
const AudioFormat = z.discriminatedUnion("type", [
  lazy.object(() => ({ type: z.literal("audio/pcm"), rate: z.literal(24_000).default(24_000) })),
  z.object({ type: z.literal("audio/pcmu") }),
  z.object({ type: z.literal("audio/pcma") }),
]);
export type RealtimeAudioFormat = z.output<typeof AudioFormat>;

export const Transcription = lazy.object(() => ({
  model: optional(z.string().min(1)),
  language: optional(z.string().min(1)),
  prompt: optional(z.string()),
}));

const Name = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, {
  error: "it must be 1 to 64 letters, digits, underscores or hyphens",
});

/** Longest list of tools: each of them is a part of every prompt. */
const MAX_TOOLS = 128;

const FunctionTool = lazy.object(() => ({
  type: z.literal("function"),
  name: Name,
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
}));
export type FunctionTool = z.output<typeof FunctionTool>;

export const RealtimeTools = listOf(
  z.discriminatedUnion("type", [FunctionTool, McpTool], {
    error: ({ code }) =>
      code === "invalid_union"
        ? "models here call functions and tools of MCP servers only; remove tools of other types"
        : undefined,
  }),
).max(MAX_TOOLS);

export const RealtimeToolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  lazy.object(() => ({ type: z.literal("function"), name: z.string().min(1) })),
  McpToolChoice,
]);

export const OutputModalities = z.tuple([z.enum(["audio", "text"])]);

export const MaxOutputTokens = z.union([z.literal("inf"), z.int().min(1).max(1_000_000)]);

export const Voice = z.union([
  z.string().min(1),
  lazy.object(() => ({ id: z.string().min(1) })).transform(({ id }) => id),
]);

export const Reasoning = lazy.object(() => ({ effort: optional(z.string().min(1)) }));

const InputAudio = lazy.object(() => ({
  format: optional(AudioFormat),
  transcription: Transcription.nullish(),
  turn_detection: TurnDetectionField.nullish(),
}));

const OutputAudio = lazy.object(() => ({
  format: optional(AudioFormat),
  voice: optional(Voice),
  speed: optional(z.number().min(0.25).max(4)),
  /** Parlance's own: the speech model. */
  model: optional(z.string().min(1)),
}));

const Include = optional(
  listOf(z.string()).max(0, { error: "models here report no log probabilities of transcripts" }),
);

const RealtimeUpdate = lazy.object(() => ({
  type: z.literal("realtime"),
  model: optional(z.string().min(1)),
  instructions: optional(z.string()),
  output_modalities: optional(OutputModalities),
  audio: optional(z.object({ input: optional(InputAudio), output: optional(OutputAudio) })),
  tools: optional(RealtimeTools),
  tool_choice: optional(RealtimeToolChoice),
  parallel_tool_calls: optional(z.boolean()),
  max_output_tokens: optional(MaxOutputTokens),
  reasoning: optional(Reasoning),
  truncation: optional(z.union([z.enum(["auto", "disabled"]), z.looseObject({ type: z.literal("retention_ratio") })])),
  include: Include,
  prompt: z.null({ error: "there are no stored prompts here; use 'instructions'" }).optional(),
}));

const TranscriptionUpdate = lazy.object(() => ({
  type: z.literal("transcription"),
  audio: optional(z.object({ input: optional(InputAudio) })),
  include: Include,
}));

/** Schema of the configuration; `type` decides which fields there are. */
export const SessionConfiguration = z.discriminatedUnion("type", [RealtimeUpdate, TranscriptionUpdate]);
/** A configuration; every field but the type may be left out. */
export type SessionConfiguration =
  | ({ type: "realtime" } & Partial<z.output<typeof RealtimeUpdate>>)
  | ({ type: "transcription" } & Partial<z.output<typeof TranscriptionUpdate>>);

/** Returns the paths of members of a configuration without effect, as it was sent. */
export function ignoredSessionFields(value: unknown): string[] {
  const fields = Object(value) as { type?: unknown };
  const schema = fields.type === "transcription" ? TranscriptionUpdate : RealtimeUpdate;
  return unknownMembers([fields], "session", Object.keys(schema.shape));
}

/** Settings of a session, complete. */
export interface SessionSettings {
  type: SessionType;
  /** Chat model; undefined in transcription sessions, and until it is set. */
  model: string | undefined;
  instructions: string;
  outputModality: "audio" | "text";
  inputFormat: RealtimeAudioFormat;
  /** Null: transcripts are not sent. */
  transcription: Partial<z.output<typeof Transcription>> | null;
  /** Null: the client commits the audio. */
  turnDetection: z.output<typeof TurnDetectionField> | null;
  outputFormat: RealtimeAudioFormat;
  voice: string;
  speed: number;
  /** Undefined: the configured or the first speech model. */
  speechModel: string | undefined;
  tools: z.output<typeof RealtimeTools>;
  toolChoice: z.output<typeof RealtimeToolChoice>;
  parallelToolCalls: boolean;
  maxOutputTokens: z.output<typeof MaxOutputTokens>;
  reasoningEffort: string | undefined;
  truncation: "auto" | "disabled";
}

const PCM: RealtimeAudioFormat = { type: "audio/pcm", rate: 24_000 };

const DEFAULT_INSTRUCTIONS =
  "You are talking with the user by voice. Answer in a few plain spoken sentences, in the user's language, without lists, headings, code or markup.";

export function defaultSettings(type: SessionType): SessionSettings {
  return {
    type,
    model: undefined,
    instructions: DEFAULT_INSTRUCTIONS,
    outputModality: "audio",
    inputFormat: PCM,
    transcription: {},
    turnDetection: TurnDetectionField.parse({ type: "server_vad" }),
    outputFormat: PCM,
    voice: "alloy",
    speed: 1,
    speechModel: undefined,
    tools: [],
    toolChoice: "auto",
    parallelToolCalls: true,
    maxOutputTokens: "inf",
    reasoningEffort: undefined,
    truncation: "auto",
  };
}

/** Validates a configuration. Throws a Fault that names the field below `path`. */
export function parseSession(value: unknown): SessionConfiguration {
  return parse(z.object({ session: SessionConfiguration }), { session: value }).session;
}

/** Returns the settings with the fields of an update. Throws a Fault for an update of another type. */
export function updateSettings(current: SessionSettings, update: SessionConfiguration): SessionSettings {
  if (update.type !== current.type) {
    const message = `This session has the type '${current.type}', which cannot change; open another connection.`;
    throw invalidRequest(message, "session.type", "invalid_value");
  }
  const { format, transcription, turn_detection: turnDetection } = update.audio?.input ?? {};
  const turnSettings = withSent(current, { inputFormat: format, transcription, turnDetection });
  if (update.type === "transcription") {
    if (turnSettings.transcription !== null) return turnSettings;
    throw unsupportedValue("A transcription session needs a transcription.", "session.audio.input.transcription");
  }
  const output = update.audio?.output;
  const { truncation } = update;
  return withSent(turnSettings, {
    model: update.model,
    instructions: update.instructions,
    outputModality: update.output_modalities?.[0],
    outputFormat: output?.format,
    voice: output?.voice,
    speed: output?.speed,
    speechModel: output?.model,
    tools: update.tools,
    toolChoice: update.tool_choice,
    parallelToolCalls: update.parallel_tool_calls,
    maxOutputTokens: update.max_output_tokens,
    reasoningEffort: update.reasoning?.effort,
    truncation: typeof truncation === "object" ? "auto" : truncation,
  });
}

type SentSettings = { [Name in keyof SessionSettings]?: SessionSettings[Name] | undefined };

function withSent(settings: SessionSettings, sent: SentSettings): SessionSettings {
  const entries = Object.entries(sent).filter(([, value]) => value !== undefined);
  return { ...settings, ...(Object.fromEntries(entries) as Partial<SessionSettings>) };
}

/** Renders the session. `id` and `expiresAt` (epoch milliseconds) are undefined before it has begun. */
export function toSession(
  settings: SessionSettings,
  { id, expiresAt }: { id: string; expiresAt: number | undefined },
): AnswerOf<typeof ClientSecret>["session"] {
  const { type, transcription } = settings;
  const input = {
    format: settings.inputFormat,
    transcription: transcription && { ...transcription, prompt: transcription.prompt ?? "" },
    turn_detection: settings.turnDetection,
  };
  const common = {
    id,
    object: type === "realtime" ? ("realtime.session" as const) : ("realtime.transcription_session" as const),
    type,
    expires_at: expiresAt === undefined ? 0 : Math.floor(expiresAt / 1000),
  };
  if (type === "transcription") return { ...common, audio: { input } };
  return {
    ...common,
    model: settings.model,
    output_modalities: [settings.outputModality],
    instructions: settings.instructions,
    tools: settings.tools.map(withoutSecrets),
    tool_choice: settings.toolChoice,
    parallel_tool_calls: settings.parallelToolCalls,
    max_output_tokens: settings.maxOutputTokens,
    reasoning: settings.reasoningEffort === undefined ? undefined : { effort: settings.reasoningEffort },
    tracing: null,
    truncation: settings.truncation,
    prompt: null,
    audio: {
      input,
      output: {
        format: settings.outputFormat,
        voice: settings.voice,
        speed: settings.speed,
        model: settings.speechModel,
      },
    },
  };
}
