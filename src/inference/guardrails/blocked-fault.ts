/** The refusal of a guardrail. */

import type { Guardrail } from "../../contracts/guardrail.ts";
import { Fault } from "../../kernel/faults.ts";

/** Code of a refusal. */
export const BLOCKED = "content_policy_violation";

/** The message names the findings, never their content. */
export function blockedFault(
  guardrail: Pick<Guardrail, "type">,
  findings: readonly string[],
  { param, subject = "The request was" }: { param: string; subject?: string },
): Fault {
  const names = [...new Set(findings)].slice(0, 20).join(", ");
  const message = `${subject} blocked by the guardrail \`${guardrail.type}\`: ${names}.`;
  return new Fault("invalid-request", message, { param, code: BLOCKED });
}
