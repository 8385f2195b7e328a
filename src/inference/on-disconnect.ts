import type { GuardrailReport } from "./guardrails/guardrail-report.ts";
import type { RequestRecording } from "./recording/request-recording.ts";
import type { Settlement } from "./settlement.ts";

/**
 * Registers a callback for a disconnect; calls it at once if the client has disconnected. An abort signal takes several
 * times as long. `settlement` returns how the run that begins has ended, also when it throws before its answer;
 * `guardrails` is what the guardrails of the request did, and grows with it, as does `recording`, its content.
 */
export type OnDisconnect = (
  leave: () => void,
  settlement?: () => Settlement | undefined,
  guardrails?: GuardrailReport,
  recording?: RequestRecording,
) => void;

/** For work within a run, which the end of the run ends. */
export function onAbort(signal: AbortSignal): OnDisconnect {
  return (leave) => {
    if (signal.aborted) leave();
    else signal.addEventListener("abort", () => leave(), { once: true });
  };
}
