import { t } from "../../i18n/translate.ts";
import "./charts.css";
import { useElementSize } from "@mantine/hooks";
import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { labelIndexes, linePath, runsOf, ticksUpTo } from "./chart-scale.ts";

interface ChartSeries {
  name: string;
  /** CSS color. */
  color: string;
  /** One per label; null: no value. */
  values: readonly (number | null)[];
  isDashed?: boolean;
}

export interface ChartMark {
  index: number;
  text: string;
  color: string;
  /** Draws a line through the values of its time, too. */
  hasLine?: boolean;
}

interface TimeChartProps {
  /** What it shows, for screen readers. */
  label: string;
  /** Labels of the points in time. */
  labels: readonly string[];
  series: readonly ChartSeries[];
  /** Stacked bars, or lines of which `area` fills the space below. */
  kind: "bars" | "lines" | "area";
  height: number;
  format: (value: number) => string;
  limit?: number | undefined;
  /** Events, drawn above the time at which they happened. */
  marks?: readonly ChartMark[];
  hasLegend?: boolean;
}

const TOP = 10;
const BOTTOM = 22;
const LABEL_WIDTH = 84;
const CHARACTER_WIDTH = 6.4;
const MAX_BAR = 40;
const MARK = 4.5;

/** Colors of series, in the order in which they are used. */
export const SERIES_COLORS = [1, 2, 3, 4, 5, 6].map((number) => `var(--chart-${number})`);
export const OTHERS_COLOR = "var(--chart-muted)";

/** Values over time. The pointer, or the arrow keys, show those of one time. */
export function TimeChart(props: TimeChartProps) {
  const { label, labels, series, height, format, hasLegend = series.length > 1 } = props;
  const { ref, width } = useElementSize();
  const [at, setAt] = useState<number>();
  const shown = at === undefined || at >= labels.length ? undefined : at;
  const geometry = geometryOf(props, width);
  const { left, step } = geometry;
  const onKeyDown = (event: KeyboardEvent) => {
    const move = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (move === 0) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(labels.length - 1, (shown ?? (move > 0 ? -1 : labels.length)) + move)));
  };
  const onPointerMove = (event: PointerEvent) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - left;
    setAt(Math.max(0, Math.min(labels.length - 1, Math.floor(x / step))));
  };
  const values = (index: number) => series.map((each) => ({ ...each, value: each.values[index] ?? null }));
  const describe = (index: number) =>
    [labels[index], ...values(index).map(({ name, value }) => `${name} ${value === null ? "—" : format(value)}`)].join(
      ", ",
    );
  return (
    <div className="chart">
      {hasLegend && (
        <ul className="chart-legend">
          {series.map(({ name, color, isDashed }) => (
            <li key={name}>
              <span className="chart-swatch" style={{ background: color }} data-dashed={isDashed || undefined} />
              {name}
            </li>
          ))}
        </ul>
      )}
      <div
        ref={ref}
        className="chart-plot"
        style={{ height }}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, labels.length - 1)}
        aria-valuenow={shown ?? 0}
        aria-valuetext={shown === undefined ? t("Use the arrow keys to read values") : describe(shown)}
        onKeyDown={onKeyDown}
        onBlur={() => setAt(undefined)}
        onPointerMove={onPointerMove}
        onPointerLeave={() => setAt(undefined)}
      >
        {width > 0 && (
          <svg width={width} height={height} aria-hidden="true">
            <Drawing {...props} geometry={geometry} shown={shown} />
          </svg>
        )}
        {shown !== undefined && (
          <div
            className="chart-tooltip"
            data-flipped={left + (shown + 0.5) * step > width / 2 || undefined}
            style={{ left: left + (shown + 0.5) * step }}
          >
            <strong>{labels[shown]}</strong>
            {values(shown).map(({ name, color, value }) =>
              value === null ? null : (
                <span key={name} className="chart-tooltip-row">
                  <span className="chart-swatch" style={{ background: color }} />
                  <span>{name}</span>
                  <b>{format(value)}</b>
                </span>
              ),
            )}
            {props.marks
              ?.filter(({ index }) => index === shown)
              .map(({ text, color }) => (
                <span key={text} className="chart-tooltip-row">
                  <span className="chart-swatch" data-mark style={{ background: color }} />
                  {text}
                </span>
              ))}
          </div>
        )}
      </div>
    </div>
  );
}

interface Geometry {
  ticks: number[];
  left: number;
  right: number;
  step: number;
  yOf: (value: number) => number;
}

function geometryOf({ kind, labels, series, height, format, limit = 0 }: TimeChartProps, width: number): Geometry {
  const sums = labels.map((_label, index) => {
    const values = series.map(({ values: all }) => all[index] ?? 0);
    return kind === "bars" ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values);
  });
  const ticks = ticksUpTo(Math.max(limit, ...sums), height < 120 ? 2 : 4);
  const top = ticks.at(-1) ?? 1;
  const left = 8 + CHARACTER_WIDTH * Math.max(...ticks.map((tick) => format(tick).length));
  const step = Math.max(0.1, width - left) / Math.max(1, labels.length);
  const yOf = (value: number) => TOP + (height - TOP - BOTTOM) * (1 - value / top);
  return { ticks, left, right: width, step, yOf };
}

interface DrawingProps extends TimeChartProps {
  geometry: Geometry;
  shown: number | undefined;
}

function Drawing(props: DrawingProps) {
  const { labels, series, kind, height, format, limit, marks = [], geometry, shown } = props;
  const { ticks, left, right, step, yOf } = geometry;
  const xOf = (index: number) => left + (index + 0.5) * step;
  return (
    <>
      {ticks.map((tick) => (
        <g key={tick}>
          <line className="chart-grid" x1={left} x2={right} y1={yOf(tick)} y2={yOf(tick)} />
          <text className="chart-text" x={left - 8} y={yOf(tick)} dy="0.34em" textAnchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {labelIndexes(labels.length, (right - left) / LABEL_WIDTH).map((index) => (
        <text key={index} className="chart-text" x={xOf(index)} y={height - 5} textAnchor="middle">
          {labels[index]}
        </text>
      ))}
      {shown !== undefined && (
        <rect className="chart-cursor" x={left + shown * step} width={step} y={TOP} height={height - TOP - BOTTOM} />
      )}
      {kind === "bars" ? (
        <Bars series={series} geometry={geometry} count={labels.length} />
      ) : (
        series.map(({ name, color, values, isDashed }) =>
          runsOf(values, (value, index) => ({ x: xOf(index), y: yOf(value) })).map((points) => (
            <g key={`${name} ${points[0]?.x}`} style={{ color }}>
              {kind === "area" && (
                <path
                  className="chart-area"
                  d={`${linePath(points)}L${points.at(-1)?.x},${yOf(0)}L${points[0]?.x},${yOf(0)}Z`}
                />
              )}
              <path className="chart-line" data-dashed={isDashed || undefined} d={linePath(points)} />
            </g>
          )),
        )
      )}
      {limit !== undefined && (
        <g>
          <line className="chart-limit" x1={left} x2={right} y1={yOf(limit)} y2={yOf(limit)} />
          <text className="chart-text chart-limit-text" x={left + 6} y={yOf(limit) + 14}>
            {t("Limit")}
          </text>
        </g>
      )}
      {marks.map(({ index, text, color, hasLine }) => (
        <g key={`${index} ${text}`} style={{ color }}>
          {hasLine && <line className="chart-mark-line" x1={xOf(index)} x2={xOf(index)} y1={TOP} y2={yOf(0)} />}
          <path
            className="chart-mark"
            d={`M${xOf(index) - MARK},${TOP - MARK * 2}h${2 * MARK}l${-MARK},${MARK * 1.6}Z`}
          />
        </g>
      ))}
    </>
  );
}

interface BarsProps {
  series: readonly ChartSeries[];
  geometry: Geometry;
  count: number;
}

function Bars({ series, geometry: { left, step, yOf }, count }: BarsProps) {
  const width = Math.min(MAX_BAR, Math.max(1, step - Math.max(1, step * 0.22)));
  return Array.from({ length: count }, (_each, index) => {
    const x = left + index * step + (step - width) / 2;
    let sum = 0;
    const parts = series.flatMap(({ name, color, values }) => {
      const value = values[index] ?? 0;
      if (value <= 0) return [];
      const from = sum;
      sum += value;
      return [{ name, color, y: yOf(sum), height: Math.max(0.5, yOf(from) - yOf(sum)) }];
    });
    return parts.map(({ name, color, y, height }, part) => {
      const radius = part === parts.length - 1 ? Math.min(3, width / 2, height) : 0;
      const inner = width - 2 * radius;
      return (
        <path
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is at a time
          key={`${index} ${name}`}
          fill={color}
          d={`M${x},${y + height}v${radius - height}q0,${-radius} ${radius},${-radius}h${inner}q${radius},0 ${radius},${radius}v${height - radius}Z`}
        />
      );
    });
  });
}
