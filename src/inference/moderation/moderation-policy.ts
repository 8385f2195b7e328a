/** Moderation policy of a chat: what its request asks for, combined with what its project requires. */

import { Fault, invalidRequest } from "../../kernel/faults.ts";
import type { UnsupportedLanguagePolicy } from "./moderation-languages.ts";

/** `score` reports verdicts; `block` lets nothing flagged through. */
type ModerationMode = "score" | "block";

/** Moderation that a chat request asks for; a direction without a mode is scored. */
export interface RequestedModeration {
  model: string | undefined;
  input: ModerationMode | undefined;
  output: ModerationMode | undefined;
}

/** Moderation that a project requires; null requires nothing. */
export interface RequiredModeration {
  /** Null: the first moderation model that the caller may use. */
  model: string | null;
  input: ModerationMode | null;
  output: ModerationMode | null;
  /** Null: such text is moderated like any other. */
  unsupportedLanguage: UnsupportedLanguagePolicy | null;
}

export interface ModerationPolicy {
  /** Undefined: the first moderation model that the caller may use. */
  model: string | undefined;
  /** Mode for the input; undefined: not moderated. */
  input: ModerationMode | undefined;
  output: ModerationMode | undefined;
  /** Whether the project requires it, in which case a failing moderation model fails the request. */
  isRequired: boolean;
  /** Whether the answer shows the verdicts. */
  isShown: boolean;
}

/**
 * Combines the request's and the project's moderation; undefined without any. Throws a Fault when the request weakens
 * the project's policy or names another model. `idOf` returns the catalog ID for an ID or an alias.
 */
export function moderationPolicy(
  requested: RequestedModeration | undefined,
  required: RequiredModeration | undefined,
  idOf: (model: string) => string | undefined,
): ModerationPolicy | undefined {
  if (required === undefined || (required.input === null && required.output === null)) {
    if (requested === undefined) return undefined;
    const { model, input = "score", output = "score" } = requested;
    return { model, input, output, isRequired: false, isShown: true };
  }
  if (requested?.model !== undefined) checkModel(requested.model, required.model, idOf);
  const direction = (name: "input" | "output") => {
    const least = required[name] ?? undefined;
    const request = requested?.[name];
    if (request === "score" && least === "block") throw tooWeak(name);
    return request ?? least ?? (requested === undefined ? undefined : "score");
  };
  return {
    model: required.model ?? undefined,
    input: direction("input"),
    output: direction("output"),
    isRequired: true,
    isShown: requested !== undefined || required.input === "score" || required.output === "score",
  };
}

/** Throws a Fault for another moderation model than the project's, which may be more lenient. */
function checkModel(requested: string, required: string | null, idOf: (model: string) => string | undefined): void {
  if (required !== null && idOf(requested) !== undefined && idOf(requested) === idOf(required)) return;
  const moderator = required === null ? "the first moderation model that it may use" : `\`${required}\``;
  const message = `The project's moderation policy is enforced by ${moderator}: leave out 'moderation.model'.`;
  throw invalidRequest(message, "moderation.model", "moderation_policy");
}

/** Hides a policy's model that the caller may not use: only an administrator can change either. */
export function policyModelUnavailable(cause: unknown): Fault {
  const message =
    "The moderation model of the project's policy is not available to this API key. Ask its administrator.";
  return new Fault("unavailable", message, { code: "engine_failed", retryAfterSeconds: 60, cause });
}

function tooWeak(direction: "input" | "output"): Fault {
  const param = `moderation.policy.${direction}.mode`;
  const message = `'${param}' is \`score\`, and the project's moderation policy requires \`block\`: a request may be stricter, not weaker.`;
  return new Fault("invalid-request", message, { param, code: "moderation_policy" });
}
