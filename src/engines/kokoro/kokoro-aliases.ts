import { completeAliases } from "../shared/voices.ts";

/** Voices by OpenAI's names: the voice of the same name, or one of the gender that the name suggests. */
const DEFAULT_ALIASES: readonly Readonly<Record<string, string>>[] = [
  {
    alloy: "af_alloy",
    ash: "am_eric",
    ballad: "am_liam",
    cedar: "am_michael",
    coral: "af_bella",
    echo: "am_echo",
    fable: "am_puck",
    // hibari's voice, so that its name keeps its meaning where this model becomes the default.
    heart: "af_heart",
    marin: "af_sarah",
    nova: "af_nova",
    onyx: "am_onyx",
    sage: "af_kore",
    shimmer: "af_sky",
    verse: "am_adam",
  },
  {
    ash: "fenrir",
    ballad: "fenrir",
    cedar: "fenrir",
    echo: "fenrir",
    fable: "fenrir",
    nova: "kore",
    onyx: "fenrir",
    sage: "kore",
    shimmer: "kore",
    verse: "fenrir",
  },
];

/** Returns the aliases of the model that has these voices, with the configured ones. Throws a Fault. */
export function kokoroAliases(
  voices: readonly string[],
  configured: Readonly<Record<string, string>>,
): Record<string, string> {
  const defaults = DEFAULT_ALIASES.find((aliases) => Object.values(aliases).some((voice) => voices.includes(voice)));
  return completeAliases(voices, defaults ?? {}, configured);
}
