import { Text } from "@mantine/core";
import { formatMilliseconds } from "../../components/format.ts";
import { type Message, msg, t } from "../../i18n/translate.ts";
import { isFailed, type RequestEntry, type RequestStage } from "./requests-api.ts";

type Part = "queue" | "load" | "failed" | "first" | "answer" | "moderation" | "tool";

export interface WaterfallRow {
  label: string;
  detail: string | null;
  parts: { part: Part; startMs: number; durationMs: number }[];
  message: string | null;
}

const LEGEND: readonly (readonly [Part, Message])[] = [
  ["load", msg("Loading")],
  ["moderation", msg("Moderation")],
  ["queue", msg("Queue")],
  ["first", msg("First token")],
  ["answer", msg("Generation")],
  ["tool", msg("Tool")],
  ["failed", msg("Failed attempt")],
];

/** Rows of the waterfall: stages as they were recorded, and the attempt that answered. */
export function waterfallRows(entry: RequestEntry): WaterfallRow[] {
  const { stages } = entry;
  const numbers = { attempt: 0, turn: 0 };
  const rows = stages.map((stage) => {
    if (stage.type === "attempt" || stage.type === "turn") numbers[stage.type] += 1;
    return toRow(stage, stage.type === "turn" ? numbers.turn : numbers.attempt);
  });
  // Turns are the answer, part by part.
  if (numbers.turn > 0) return rows;
  const answer = answerRow(entry, numbers.attempt);
  if (answer === undefined) return rows;
  const at = stages.findIndex((stage) => !isBefore(stage, entry));
  return at === -1 ? [...rows, answer] : rows.toSpliced(at, 0, answer);
}

function toRow(stage: RequestStage, number: number): WaterfallRow {
  const { type, start_ms: startMs, duration_ms: durationMs, error, error_message } = stage;
  const queuedMs = Math.min(stage.queued_ms ?? 0, durationMs);
  const failed = { part: "failed" as const, startMs: startMs + queuedMs, durationMs: durationMs - queuedMs };
  const entire = (part: Part) => (error === null ? [{ part, startMs, durationMs }] : [failed]);
  const row = {
    detail: stage.deployment,
    message: error === null ? null : [error, error_message].filter(Boolean).join(": "),
  };
  switch (type) {
    case "load":
      return { ...row, label: t("Load", { context: "noun" }), parts: entire("load") };
    case "moderation":
      return { ...row, label: t("Moderation"), parts: entire("moderation") };
    case "tool":
      return { ...row, label: t("Tool"), parts: entire("tool") };
    case "turn":
      return { ...row, label: t("Turn {{number}}", { number }), parts: entire("answer") };
    case "attempt":
      return {
        ...row,
        label: t("Attempt {{number}}", { number }),
        parts: [{ part: "queue", startMs, durationMs: queuedMs }, failed],
      };
  }
}

/** Whether a stage ended before the attempt that answered; the answer is moderated while it is generated. */
function isBefore({ type, start_ms }: RequestStage, entry: RequestEntry): boolean {
  return type !== "moderation" || start_ms < (entry.first_token_ms ?? entry.duration_ms);
}

/** The attempt that answered, or why nothing did; undefined where a failed attempt says so. */
function answerRow(entry: RequestEntry, attempts: number): WaterfallRow | undefined {
  const { duration_ms: duration, first_token_ms: firstToken, deployment } = entry;
  const before = entry.stages.filter((stage) => isBefore(stage, entry));
  const endOf = ({ start_ms, duration_ms }: RequestStage) => start_ms + duration_ms;
  const startMs = Math.min(duration, Math.max(0, ...before.map(endOf)));
  const queuedBefore = before.reduce((sum, { queued_ms }) => sum + (queued_ms ?? 0), 0);
  const queuedMs = Math.max(0, Math.min((entry.queued_ms ?? 0) - queuedBefore, duration - startMs));
  if (entry.answered_by === null || (firstToken === null && entry.status >= 400)) {
    if (before.some(({ error }) => error !== null)) return undefined;
    const message = [entry.error, entry.error_message].filter(Boolean).join(": ") || null;
    const parts = [{ part: "failed" as const, startMs, durationMs: duration - startMs }];
    return { label: t("Request"), detail: null, message, parts };
  }
  const beganAt = startMs + queuedMs;
  // The run, to which the time of the first token belongs, begins once the prompt is moderated.
  const runStart = Math.max(0, ...before.filter(({ type }) => type === "moderation").map(endOf));
  const firstAt = Math.max(beganAt, Math.min(runStart + (firstToken ?? duration), duration));
  return {
    label: attempts === 0 ? t("Answer") : t("Attempt {{number}}", { number: attempts + 1 }),
    detail: deployment,
    message: isFailed(entry) ? (entry.error_message ?? entry.error) : null,
    parts: [
      { part: "queue", startMs, durationMs: queuedMs },
      { part: "first", startMs: beganAt, durationMs: firstAt - beganAt },
      { part: "answer", startMs: firstAt, durationMs: duration - firstAt },
    ],
  };
}

export function Waterfall({ entry }: { entry: RequestEntry }) {
  const rows = waterfallRows(entry);
  const total = Math.max(1, entry.duration_ms);
  const used = new Set(
    rows.flatMap(({ parts }) => parts.filter(({ durationMs }) => durationMs > 0).map(({ part }) => part)),
  );
  return (
    <div data-testid="waterfall">
      <div className="waterfall-legend">
        {LEGEND.filter(([part]) => used.has(part)).map(([part, label]) => (
          <span key={part} className="waterfall-key">
            <span className="waterfall-part" data-part={part} /> {t(label)}
          </span>
        ))}
      </div>
      <ol className="waterfall">
        {rows.map(({ label, detail, parts, message }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows of a request that has ended do not move
          <li key={index} className="waterfall-row">
            <div className="waterfall-label">
              <Text size="sm" fw={500}>
                {label}
              </Text>
              <Text size="xs" c="dimmed" truncate title={detail ?? undefined}>
                {detail}
              </Text>
            </div>
            <div className="waterfall-track">
              {parts.map(
                ({ part, startMs, durationMs }) =>
                  durationMs > 0 && (
                    <span
                      key={part}
                      className="waterfall-part"
                      data-part={part}
                      title={t("{{duration}} from {{start}}", {
                        duration: formatMilliseconds(durationMs),
                        start: formatMilliseconds(startMs),
                      })}
                      style={{ left: `${(100 * startMs) / total}%`, width: `max(2px, ${(100 * durationMs) / total}%)` }}
                    />
                  ),
              )}
            </div>
            <Text size="sm" className="tabular nowrap" ta="right">
              {formatMilliseconds(parts.reduce((sum, { durationMs }) => sum + durationMs, 0))}
            </Text>
            {message !== null && (
              <Text size="sm" c="var(--mantine-color-error)" className="waterfall-message wrap-anywhere">
                {message}
              </Text>
            )}
          </li>
        ))}
      </ol>
      <div className="waterfall-axis tabular">
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <span key={share}>{formatMilliseconds(Math.round(share * total))}</span>
        ))}
      </div>
    </div>
  );
}
