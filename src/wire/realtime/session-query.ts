/** Query of the WebSocket's URL, and the settings with which its session begins. */

import { z } from "zod";
import type { Task } from "../../contracts/task.ts";
import { defaultSettings, parseSession, type SessionSettings, updateSettings } from "./session-settings.ts";

export const RealtimeQuery = z.object({
  model: z.string().min(1).optional(),
  intent: z.literal("transcription").optional(),
  call_id: z.undefined({ error: "there are no calls over WebRTC or SIP here" }).optional(),
});

/**
 * Returns the settings of a new session. `secretSession` is the configuration of a client secret as JSON; `taskOf` returns
 * the task of a model. Throws a Fault.
 */
export function settingsOf(
  { model, intent }: z.output<typeof RealtimeQuery>,
  secretSession: string | undefined,
  taskOf: (id: string) => Task | undefined,
): SessionSettings {
  const configured = secretSession === undefined ? undefined : parseSession(JSON.parse(secretSession));
  const isTranscription = intent !== undefined || (model !== undefined && taskOf(model) === "transcription");
  const type = configured?.type ?? (isTranscription ? "transcription" : "realtime");
  const own = defaultSettings(type);
  const settings = configured === undefined ? own : updateSettings(own, configured);
  if (model === undefined) return settings;
  if (type === "realtime") return { ...settings, model };
  return { ...settings, transcription: { ...settings.transcription, model } };
}
