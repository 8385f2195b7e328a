/** GET /v1/audio/voices, an extension to OpenAI's API that several servers share. */

import { z } from "zod";

export const VoicesQuery = z.object({ model: z.string().min(1).optional() });

export interface ListedVoices {
  model: string;
  voices: readonly string[];
  voiceAliases: Readonly<Record<string, string>>;
}

/** Lists each model's own voices, then its aliases with the voice that each resolves to. */
export function toVoiceList(models: readonly ListedVoices[]): Record<string, unknown> {
  const entry = (model: string, id: string, voice: string) => ({
    id,
    object: "voice",
    name: id,
    model,
    voice,
  });
  const data = models.flatMap(({ model, voices, voiceAliases }) => [
    ...voices.map((voice) => entry(model, voice, voice)),
    ...Object.entries(voiceAliases).map(([alias, voice]) => entry(model, alias, voice)),
  ]);
  return { object: "list", data };
}
