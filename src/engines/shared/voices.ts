/** Names of a speech model's voices, and the aliases that clients of other services send. */

import { invalidRequest, unsupportedValue } from "../../kernel/faults.ts";

/** OpenAI's voice names, which clients send to every server. */
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
 * Completes the aliases: `defaults` whose voice the model has, the model's first voice for OpenAI's other names, and the
 * configured ones. Throws a Fault when a configured alias names an unknown voice.
 */
export function completeAliases(
  voices: readonly string[],
  defaults: Readonly<Record<string, string>>,
  configured: Readonly<Record<string, string>>,
): Record<string, string> {
  const [first = ""] = voices;
  const unknown = Object.entries(configured).find(([, voice]) => !voices.includes(voice));
  if (unknown !== undefined) {
    throw invalidRequest(`voices.${unknown[0]}: there is no voice ${unknown[1]}; the voices are ${voices.join(", ")}.`);
  }
  const byDefault = OPENAI_VOICES.filter((name) => !voices.includes(name)).map((name) => {
    const voice = defaults[name];
    return [name, voice !== undefined && voices.includes(voice) ? voice : first];
  });
  return { ...Object.fromEntries(byDefault), ...configured };
}

/** Returns the model's own name of a voice or alias. Throws a Fault that lists the known voices. */
export function resolveVoice(name: string, { voices, aliases }: VoiceNames): string {
  if (voices.includes(name)) return name;
  const voice = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
  if (voice !== undefined) return voice;
  const others = Object.keys(aliases);
  const also = others.length === 0 ? "" : ` (and, spoken by these, ${others.join(", ")})`;
  const quoted = JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
  throw unsupportedValue(
    `There is no voice ${quoted}. The voices of this model are ${voices.join(", ")}${also}.`,
    "voice",
  );
}
