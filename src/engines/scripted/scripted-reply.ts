/** What the scripted models of all tasks share. */

import { setTimeout as delay } from "node:timers/promises";
import { Fault } from "../../kernel/faults.ts";
import type { ScriptedReply } from "./settings.ts";

export function matches(match: ScriptedReply["match"], text: string): boolean {
  if (match === undefined) return true;
  return typeof match === "string" ? text.includes(match) : text.search(match) >= 0;
}

export function toFailure(failWith: ScriptedReply["failWith"]): Error {
  if (failWith.kind === "bug") return new Error(failWith.message);
  return new Fault(failWith.kind, failWith.message, failWith);
}

/** Ends early, without throwing, once the signal aborts. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds > 0) await delay(milliseconds, undefined, { signal }).catch(() => {});
}
