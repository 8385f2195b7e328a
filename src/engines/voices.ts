/** The names that a speech model's voices go by. */

import { type Fault, invalidRequest, unsupportedValue } from "../faults.ts";

/** Clients send these to every server. */
const OPENAI_VOICES = [
  "alloy",
  "ash",
  "ballad",
  "cedar",
  "coral",
  "echo",
  "fable",
  "marin",
  "nova",
  "onyx",
  "sage",
  "shimmer",
  "verse",
] as const;

export interface VoiceNames {
  voices: readonly string[];
  aliases: Readonly<Record<string, string>>;
}

/**
 * The aliases that hold: the usual ones whose voice the model has, any other of OpenAI's names as the model's first
 * voice, and what the operator set. Throws a Fault when the operator names a voice that there is not.
 */
export function completeAliases(
  voices: readonly string[],
  usual: Readonly<Record<string, string>>,
  configured: Readonly<Record<string, string>>,
): Record<string, string> {
  const [first = ""] = voices;
  const unknown = Object.entries(configured).find(([, voice]) => !voices.includes(voice));
  if (unknown !== undefined) {
    throw invalidRequest(`voices.${unknown[0]}: there is no voice ${unknown[1]}; there are ${voices.join(", ")}.`);
  }
  const byDefault = OPENAI_VOICES.filter((name) => !voices.includes(name)).map((name) => {
    const voice = usual[name];
    return [name, voice !== undefined && voices.includes(voice) ? voice : first];
  });
  return { ...Object.fromEntries(byDefault), ...configured };
}

/** The model's own name of a voice. Throws a Fault that lists the known ones. */
export function resolveVoice(asked: string, { voices, aliases }: VoiceNames): string {
  if (voices.includes(asked)) return asked;
  const voice = Object.hasOwn(aliases, asked) ? aliases[asked] : undefined;
  if (voice !== undefined) return voice;
  const others = Object.keys(aliases);
  const also = others.length === 0 ? "" : ` (and, spoken by these, ${others.join(", ")})`;
  const given = JSON.stringify(asked.length > 100 ? `${asked.slice(0, 100)}…` : asked);
  throw unsupportedValue(
    `There is no voice ${given}. The voices of this model are ${voices.join(", ")}${also}.`,
    "voice",
  );
}

/** For models that cannot be told how to speak. */
export function instructionsUnsupported(): Fault {
  return unsupportedValue("This model cannot follow `instructions`; leave them out.", "instructions");
}
