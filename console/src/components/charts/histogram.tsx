import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import { plural, t } from "../../i18n/translate.ts";
import { formatDateTime, formatTimeOfDay } from "../format.ts";

interface HistogramBar {
  /** Start, Unix seconds. */
  time: number;
  total: number;
  failed: number;
}

interface HistogramProps {
  label: string;
  bars: readonly HistogramBar[];
  /** Seconds of a bar. */
  width: number;
  /** Selected part, Unix seconds. */
  selection: { from: number; to: number } | undefined;
  onSelect: (selection: { from: number; to: number } | undefined) => void;
}

const HEIGHT = 72;

/** Bars over time, of which a part is selected by dragging, or by the arrow keys with Shift. */
export function Histogram({ label, bars, width, selection, onSelect }: HistogramProps) {
  const plot = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<{ from: number; to: number }>();
  const [focused, setFocused] = useState<number>();
  const highest = Math.max(1, ...bars.map(({ total }) => total));
  const start = bars[0]?.time ?? 0;
  const indexAt = (event: PointerEvent) => {
    const box = plot.current?.getBoundingClientRect();
    if (box === undefined) return 0;
    const share = (event.clientX - box.left) / box.width;
    return Math.max(0, Math.min(bars.length - 1, Math.floor(share * bars.length)));
  };
  const finish = (range: { from: number; to: number } | undefined) => {
    setDrag(undefined);
    if (range === undefined) return;
    const [first, last] = [Math.min(range.from, range.to), Math.max(range.from, range.to)];
    onSelect({ from: Math.floor(start + first * width), to: Math.ceil(start + (last + 1) * width) });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") onSelect(undefined);
    if (event.key === "Enter" && focused !== undefined) finish(drag ?? { from: focused, to: focused });
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(bars.length - 1, (focused ?? bars.length) + step));
    setFocused(next);
    setDrag(event.shiftKey ? { from: drag?.from ?? focused ?? next, to: next } : undefined);
  };
  const isWithin = (index: number) => {
    if (drag !== undefined) return index >= Math.min(drag.from, drag.to) && index <= Math.max(drag.from, drag.to);
    const time = start + index * width;
    return selection === undefined || (time + width > selection.from && time < selection.to);
  };
  const shown = focused === undefined ? undefined : bars[focused];
  return (
    <div>
      <div
        ref={plot}
        className="histogram"
        style={{ height: HEIGHT }}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={bars.length - 1}
        aria-valuenow={focused ?? 0}
        aria-valuetext={shown === undefined ? t("No bar is selected") : describe(shown)}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ from: indexAt(event), to: indexAt(event) });
        }}
        onPointerMove={(event) => {
          setFocused(indexAt(event));
          setDrag((range) => (range === undefined ? undefined : { ...range, to: indexAt(event) }));
        }}
        onPointerUp={() => finish(drag)}
        onPointerLeave={() => setFocused(undefined)}
      >
        {bars.map(({ time, total, failed }, index) => (
          <span key={time} className="histogram-bar" data-outside={!isWithin(index) || undefined}>
            <span className="histogram-failed" style={{ height: `${(100 * failed) / highest}%` }} />
            <span className="histogram-total" style={{ height: `${(100 * (total - failed)) / highest}%` }} />
          </span>
        ))}
      </div>
      <div className="histogram-axis tabular">
        <span>{formatDateTime(start)}</span>
        <span>{shown === undefined ? t("Drag to select a time") : describe(shown)}</span>
        <span>{formatTimeOfDay(start + bars.length * width)}</span>
      </div>
    </div>
  );
}

function describe({ time, total, failed }: HistogramBar): string {
  const values = { time: formatTimeOfDay(time) };
  if (failed === 0) return plural(total, "{{time}}: {{count}} requests", "{{time}}: {{count}} requests", values);
  return plural(
    total,
    "{{time}}: {{count}} requests, {{failed}} failed",
    "{{time}}: {{count}} requests, {{failed}} failed",
    { ...values, failed },
  );
}
