/** What a finder does with complete texts of an answer or a result. */

import type { Placeholders } from "@parlance-inference/text-privacy/placeholders";
import { actionOf, type Guardrail } from "../../contracts/guardrail.ts";
import type { ChannelText } from "./channels.ts";
import type { TextFinder } from "./finders.ts";
import { type GuardContext, maskAll, OUTCOMES } from "./guarded-texts.ts";

/** Ends an answer with the finish reason `content_filter`. */
export class OutputBlocked extends Error {
  override readonly name = "OutputBlocked";
  readonly guardrail: Guardrail;
  readonly findings: readonly string[];

  constructor(guardrail: Guardrail, findings: readonly string[]) {
    super();
    this.guardrail = guardrail;
    this.findings = findings;
  }
}

/** Searches complete texts together, since a finder searches many of them in a thread. Throws `OutputBlocked`. */
export async function maskComplete(
  guardrail: Guardrail,
  finder: TextFinder,
  texts: readonly string[],
  { report, signal }: GuardContext,
): Promise<string[]> {
  const { type } = guardrail;
  const action = actionOf(guardrail);
  const findings: string[] = [];
  const inputs = texts.map((text): ChannelText => ({ text, kind: "prompt" }));
  const masked = await maskAll(inputs, {
    ...{ finder, findings, action, signal },
    placeholders: { mask: (value, matches) => replaceMatches(value, matches) },
  });
  report.note(type, "output", findings.length === 0 ? "passed" : OUTCOMES[action], findings);
  if (findings.length > 0 && action === "block") throw new OutputBlocked(guardrail, findings);
  return masked;
}

function replaceMatches(text: string, matches: Parameters<Placeholders["mask"]>[1]): string {
  let output = "";
  let from = 0;
  for (const { type, start, end } of matches) {
    output += `${text.slice(from, start)}<${type}>`;
    from = end;
  }
  return output + text.slice(from);
}
