/** GET /v1/audio/voices, an extension to OpenAI's API that several servers share. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import type { SpeechModelList, VoiceList } from "./audio-answers.ts";

export const VoicesQuery = lazy.object(() => ({ model: z.string().min(1).optional() }));

export interface ListedVoices {
  model: string;
  voices: readonly string[];
  voiceAliases: Readonly<Record<string, string>>;
  languages: readonly string[] | undefined;
  voiceLanguages?: Readonly<Record<string, string>> | undefined;
}

/** Renders GET /v1/audio/models, which Open WebUI requests for the speech models. */
export function toSpeechModelList(ids: readonly string[]): AnswerOf<typeof SpeechModelList> {
  return { models: ids.map((id) => ({ id, name: id })) };
}

/** Lists each model's own voices, then its aliases with the voice that each resolves to. */
export function toVoiceList(models: readonly ListedVoices[]): AnswerOf<typeof VoiceList> {
  const entry = ({ model, languages, voiceLanguages }: ListedVoices, id: string, voice: string) => ({
    id,
    object: "voice" as const,
    name: id,
    model,
    voice,
    languages: languagesOf(voice, languages, voiceLanguages),
  });
  const data = models.flatMap((model) => [
    ...model.voices.map((voice) => entry(model, voice, voice)),
    ...Object.entries(model.voiceAliases).map(([alias, voice]) => entry(model, alias, voice)),
  ]);
  // Open WebUI and Kokoro-FastAPI read `voices`.
  return { object: "list", data, voices: data.map(({ id, name }) => ({ id, name })) };
}

function languagesOf(
  voice: string,
  languages: readonly string[] | undefined,
  voiceLanguages: ListedVoices["voiceLanguages"],
): string[] | null {
  const language = voiceLanguages?.[voice];
  return language === undefined ? (languages?.slice() ?? null) : [language];
}
