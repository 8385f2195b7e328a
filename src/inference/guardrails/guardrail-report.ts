/** What the guardrails of one request did, without any of its content. */

import type { GuardrailStage, GuardrailType } from "../../contracts/guardrail.ts";

/** `passed`: nothing was found. `failed`: the check itself failed. */
export type GuardrailOutcome = "passed" | "masked" | "blocked" | "reported" | "failed";

export interface GuardrailRecord {
  type: GuardrailType;
  stage: GuardrailStage;
  outcome: GuardrailOutcome;
  /** Matches by what they are, such as `EMAIL_ADDRESS`. */
  findings: Record<string, number>;
}

const SEVERITY: readonly GuardrailOutcome[] = ["passed", "reported", "masked", "failed", "blocked"];
/** A header of several kilobytes would be refused by proxies. */
const MAX_HEADER_LENGTH = 1500;

export class GuardrailReport {
  readonly #records: GuardrailRecord[] = [];
  /** ID of the request, where it has one. */
  requestId: string | undefined;
  /** Whether texts passed because their check failed and is configured to let them. */
  passedUnchecked = false;

  get records(): readonly GuardrailRecord[] {
    return this.#records;
  }

  /** Whether a guardrail did anything. */
  get hasIntervened(): boolean {
    return this.#records.some(({ outcome }) => outcome !== "passed");
  }

  /** Adds to the record of the guardrail at this stage. */
  note(type: GuardrailType, stage: GuardrailStage, outcome: GuardrailOutcome, findings: readonly string[] = []): void {
    let record = this.#records.find((each) => each.type === type && each.stage === stage);
    if (record === undefined) {
      record = { type, stage, outcome, findings: {} };
      this.#records.push(record);
    }
    if (SEVERITY.indexOf(outcome) > SEVERITY.indexOf(record.outcome)) record.outcome = outcome;
    for (const finding of findings) record.findings[finding] = (record.findings[finding] ?? 0) + 1;
  }

  /** Such as `pii;stage=input;outcome=masked;found="EMAIL_ADDRESS:2"`, one item for each guardrail and stage. */
  toHeader(): string | undefined {
    const items = this.#records.map(({ type, stage, outcome, findings }) => {
      const counts = Object.entries(findings).map(([name, count]) => `${name.replace(/[^\w .:/-]/g, "_")}:${count}`);
      const summary = counts.length === 0 ? "" : `;found="${counts.join(" ").slice(0, 300)}"`;
      return `${type};stage=${stage};outcome=${outcome}${summary}`;
    });
    return items.length === 0 ? undefined : items.join(", ").slice(0, MAX_HEADER_LENGTH);
  }
}
