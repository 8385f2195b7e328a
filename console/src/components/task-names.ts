import type { Task } from "../api/models.ts";
import { type Message, msg } from "../i18n/translate.ts";

/** Names of tasks within a sentence and on badges. */
export const TASK_NAMES: Readonly<Record<Task, Message>> = {
  chat: msg("chat"),
  embedding: msg("embedding"),
  moderation: msg("moderation"),
  speech: msg("speech"),
  transcription: msg("transcription"),
  image: msg("image"),
};
