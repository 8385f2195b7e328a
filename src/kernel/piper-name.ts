/** Names of Piper's voices: `de_DE-thorsten-medium`. */

import { invalidRequest } from "./faults.ts";

export const PIPER_PREFIX = "piper:";
const NAME = /^(?<code>(?<language>[a-z]{2,3})_[A-Z0-9]{2,3})-(?<voice>\w{1,60})-(?<quality>x_low|low|medium|high)$/;

export interface PiperName {
  /** ISO 639 code. */
  language: string;
  /** Language and country: `de_DE`. */
  code: string;
  voice: string;
  quality: string;
}

/** Throws a Fault for a name of another form. */
export function parsePiperName(name: string): PiperName {
  const { language, code, voice, quality } = NAME.exec(name)?.groups ?? {};
  if (language !== undefined && code !== undefined && voice !== undefined && quality !== undefined) {
    return { language, code, voice, quality };
  }
  throw invalidRequest(
    `${PIPER_PREFIX}${name} is not a voice of Piper: write ${PIPER_PREFIX}language_COUNTRY-name-quality, such as ${PIPER_PREFIX}de_DE-thorsten-medium.`,
    "model",
  );
}
