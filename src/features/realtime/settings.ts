import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";

const modelId = z.string().min(1).max(200);

/** Section `realtime`. */
export const realtimeSettings = mapping(
  () => ({
    transcription_model: modelId
      .optional()
      .describe("Model that hears in sessions that name none. Default: the first transcription model of the key."),
    speech_model: modelId
      .optional()
      .describe("Model that speaks in sessions that name none. Default: the first speech model of the key."),
    max_sessions_per_project: z
      .int()
      .min(1)
      .max(100_000)
      .default(20)
      .describe("Maximum number of sessions that a project may have open at this replica; more are refused."),
    max_session_seconds: z.int().min(1).max(86_400).default(3600).describe("Seconds after which a session ends."),
    idle_timeout_seconds: z
      .int()
      .min(1)
      .max(86_400)
      .default(600)
      .describe("Seconds without an event of the client, or a response, after which a session ends."),
  }),
  "Realtime API: speech over WebSocket.",
);

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    realtime: z.output<typeof realtimeSettings>;
  }
}
