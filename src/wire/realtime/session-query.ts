/** Query of the WebSocket's URL, and the settings with which its session begins. */

import { z } from "zod";
import type { Task } from "../../contracts/task.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { bindSession } from "./bind-session.ts";
import { defaultSettings, parseSession, type SessionSettings, updateSettings } from "./session-settings.ts";

export const RealtimeQuery = lazy.object(() => ({
  model: z.string().min(1).optional(),
  intent: z.literal("transcription").optional(),
  call_id: z.undefined({ error: "there are no calls over WebRTC or SIP here" }).optional(),
}));

export const TranslationQuery = lazy.object(() => ({ model: z.string().min(1).optional() }));

/** How a session begins, and what its client cannot change. */
export interface SessionStart {
  settings: SessionSettings;
  /** Configuration that a client secret fixes; undefined for a session that a key opened. */
  fixed: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Returns the start of a new session. `secretSession` is the configuration of a client secret as JSON; `taskOf` returns
 * the task of a model. Throws a Fault, also for another model than the secret's.
 */
export function startOf(
  { model, intent }: z.output<typeof RealtimeQuery>,
  secretSession: string | undefined,
  taskOf: (id: string) => Task | undefined,
): SessionStart {
  if (secretSession === undefined) {
    const isTranscription = intent !== undefined || (model !== undefined && taskOf(model) === "transcription");
    const type = isTranscription ? "transcription" : "realtime";
    const update = parseSession({ type, ...modelOf(type, model) });
    return { settings: updateSettings(defaultSettings(type), update), fixed: undefined };
  }
  const secret = JSON.parse(secretSession) as { type?: string };
  if (secret.type === "translation") {
    const message = "This client secret is for sessions of /v1/realtime/translations, not of /v1/realtime.";
    throw invalidRequest(message, "session.type", "invalid_value");
  }
  const configured = parseSession(secret);
  const { type } = configured;
  const fixed = bindSession(configured, modelOf(type, model), "session");
  return { settings: updateSettings(defaultSettings(type), fixed), fixed };
}

/** Returns the setting that the model of the URL stands for. */
function modelOf(type: SessionSettings["type"], model: string | undefined): Record<string, unknown> {
  if (model === undefined) return {};
  return type === "realtime" ? { model } : { audio: { input: { transcription: { model } } } };
}
