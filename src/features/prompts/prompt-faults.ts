import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { isPromptLabel } from "../../wire/openai/prompts/prompts.ts";

/** Throws a Fault for a text that is not a label. */
export function checkLabel(label: string, param: string): void {
  if (isPromptLabel(label)) return;
  const message = `Invalid value for '${param}': a label has at most 63 lower-case letters, digits, - and _, and begins with a letter.`;
  throw invalidRequest(message, param, "invalid_value");
}

export function promptNotFound(id: string, param: string | undefined): Fault {
  const message = `The project has no prompt '${id.slice(0, 100)}'.`;
  return new Fault("not-found", message, { code: "prompt_not_found", ...(param !== undefined && { param }) });
}

export function versionNotFound(
  name: string,
  version: string,
  labels: readonly { label: string }[],
  param: string,
): Fault {
  const names = labels.map(({ label }) => label).join(", ") || "none";
  const message = `The prompt '${name}' has no version or label '${version.slice(0, 64)}'. Its labels: ${names}.`;
  return new Fault("not-found", message, { code: "prompt_version_not_found", param });
}
