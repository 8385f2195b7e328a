/** Sessions of the Realtime API as clients get them. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { named } from "../openapi/named.ts";

const fields = z.record(z.string(), z.unknown());

const format = lazy.object(() => ({ type: z.string(), rate: z.int().optional() }));

export const transcriptionAnswer = z
  .object({ model: z.string().optional(), language: z.string().optional(), prompt: z.string().optional() })
  .nullable();

export const turnDetectionAnswer = z
  .object({
    type: z.enum(["server_vad", "semantic_vad"]),
    threshold: z.number().optional(),
    prefix_padding_ms: z.int().optional(),
    silence_duration_ms: z.int().optional(),
    idle_timeout_ms: z.null().optional(),
    eagerness: z.string().optional(),
    create_response: z.boolean(),
    interrupt_response: z.boolean(),
  })
  .nullable();

const RealtimeSession = named(
  "RealtimeSession",
  lazy.object(() => ({
    id: z.string().optional(),
    object: z.enum(["realtime.session", "realtime.transcription_session"]),
    type: z.enum(["realtime", "transcription"]),
    expires_at: z.int().describe("Unix seconds; 0 before the session begins."),
    audio: z.object({
      input: z.object({
        format,
        transcription: transcriptionAnswer.optional(),
        turn_detection: turnDetectionAnswer,
      }),
      output: z
        .object({ format, voice: z.string(), speed: z.number(), model: z.string().optional() })
        .optional()
        .describe("Of the type `realtime`, as the rest."),
    }),
    model: z.string().optional(),
    output_modalities: z.array(z.enum(["audio", "text"])).optional(),
    instructions: z.string().optional(),
    tools: z.array(fields).optional(),
    tool_choice: z.union([z.string(), fields]).optional(),
    parallel_tool_calls: z.boolean().optional(),
    max_output_tokens: z.union([z.literal("inf"), z.int()]).optional(),
    reasoning: z.object({ effort: z.string().optional() }).optional(),
    tracing: z.null().optional(),
    truncation: z.string().optional(),
    prompt: z.null().optional(),
  })),
);

export const ClientSecret = named(
  "ClientSecret",
  lazy.object(() => ({
    value: z.string().describe("The secret, which begins with `ek_`."),
    expires_at: z.int().min(0).describe("Seconds since 1970."),
    session: RealtimeSession,
  })),
);
