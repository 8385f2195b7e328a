import { InvalidArgumentError } from "commander";
import { DAY_SECONDS } from "../kernel/durations.ts";

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
const MAX_SECONDS = 3_650 * DAY_SECONDS;

/** Parses a duration such as `12h`, `30d` or `8w`. */
export function parseSeconds(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,10})([smhdw])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNIT_SECONDS[unit] ?? 0);
  if (seconds >= 1 && seconds <= MAX_SECONDS) return seconds;
  throw new InvalidArgumentError("It must be a number followed by s, m, h, d or w, from 1s to 3650d (ten years).");
}
