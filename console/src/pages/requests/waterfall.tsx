import { Text } from "@mantine/core";
import { formatMilliseconds } from "../../components/format.ts";
import { type Message, msg, t } from "../../i18n/translate.ts";
import type { RequestEntry } from "./requests-api.ts";

type Part = "queue" | "load" | "failed" | "first" | "answer";

export interface WaterfallRow {
  label: string;
  detail: string | null;
  parts: { part: Part; startMs: number; durationMs: number }[];
  message: string | null;
}

const LEGEND: readonly (readonly [Part, Message])[] = [
  ["load", msg("Loading")],
  ["queue", msg("Queue")],
  ["first", msg("First token")],
  ["answer", msg("Generation")],
  ["failed", msg("Failed attempt")],
];

/** Rows of the waterfall: loads and failed attempts as they were recorded, then the attempt that answered. */
export function waterfallRows(entry: RequestEntry): WaterfallRow[] {
  const { stages, duration_ms: duration, first_token_ms: firstToken, deployment } = entry;
  let attempt = 0;
  const rows = stages.map<WaterfallRow>((stage) => {
    const { type, start_ms: startMs, duration_ms: durationMs, queued_ms: queued, error, error_message } = stage;
    const queuedMs = Math.min(queued ?? 0, durationMs);
    if (type === "attempt") attempt += 1;
    return {
      label: type === "load" ? t("Load", { context: "noun" }) : t("Attempt {{number}}", { number: attempt }),
      detail: stage.deployment,
      message: error === null ? null : [error, error_message].filter(Boolean).join(": "),
      parts:
        type === "load"
          ? [{ part: error === null ? "load" : "failed", startMs, durationMs }]
          : [
              { part: "queue" as const, startMs, durationMs: queuedMs },
              { part: "failed" as const, startMs: startMs + queuedMs, durationMs: durationMs - queuedMs },
            ],
    };
  });
  const last = stages.at(-1);
  const startMs = last === undefined ? 0 : last.start_ms + last.duration_ms;
  const queuedBefore = stages.reduce((sum, { queued_ms }) => sum + (queued_ms ?? 0), 0);
  const queuedMs = Math.max(0, Math.min((entry.queued_ms ?? 0) - queuedBefore, duration - startMs));
  const isRefused = entry.answered_by === null || (firstToken === null && entry.status >= 400);
  if (isRefused) {
    const isExplained = stages.some(({ error }) => error !== null);
    if (isExplained) return rows;
    const message = [entry.error, entry.error_message].filter(Boolean).join(": ") || null;
    return [
      ...rows,
      {
        label: t("Request"),
        detail: null,
        message,
        parts: [{ part: "failed", startMs, durationMs: duration - startMs }],
      },
    ];
  }
  const beganAt = startMs + queuedMs;
  const firstAt = Math.max(beganAt, Math.min(firstToken ?? duration, duration));
  return [
    ...rows,
    {
      label: attempt === 0 ? t("Answer") : t("Attempt {{number}}", { number: attempt + 1 }),
      detail: deployment,
      message: entry.status >= 400 && entry.status !== 499 ? (entry.error_message ?? entry.error) : null,
      parts: [
        { part: "queue", startMs, durationMs: queuedMs },
        { part: "first", startMs: beganAt, durationMs: firstAt - beganAt },
        { part: "answer", startMs: firstAt, durationMs: duration - firstAt },
      ],
    },
  ];
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
