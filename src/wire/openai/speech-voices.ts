/** GET /v1/audio/voices, an extension that several servers share. */

import { z } from "zod";

export const VoicesQuery = z.object({ model: z.string().min(1).optional() });

export interface ListedVoices {
  model: string;
  voices: readonly string[];
  voiceAliases: Readonly<Record<string, string>>;
}

/** Names of other services' voices are listed after the model's own, each with the voice that speaks for it. */
export function toVoiceList(models: readonly ListedVoices[]): Record<string, unknown> {
  const entry = (model: string, id: string, speaks: string) => ({
    id,
    object: "voice",
    name: id,
    model,
    voice: speaks,
  });
  const data = models.flatMap(({ model, voices, voiceAliases }) => [
    ...voices.map((voice) => entry(model, voice, voice)),
    ...Object.entries(voiceAliases).map(([alias, voice]) => entry(model, alias, voice)),
  ]);
  return { object: "list", data };
}
