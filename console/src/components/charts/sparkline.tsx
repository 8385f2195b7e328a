import { t } from "../../i18n/translate.ts";

interface SparklineProps {
  values: readonly number[];
  /** What it shows, for screen readers. */
  label: string;
  width?: number;
  height?: number;
  /** Fills the width of its place. */
  isStretched?: boolean;
}

/** Course of a number in a row of a table, or below it, in the color of the text around it. */
export function Sparkline({ values, label, width = 96, height = 24, isStretched = false }: SparklineProps) {
  const highest = Math.max(...values, 0);
  if (highest === 0) {
    return (
      <span
        className="sparkline-empty"
        data-stretched={isStretched || undefined}
        role="img"
        aria-label={t("{{label}}: none", { label })}
      />
    );
  }
  const step = width / Math.max(1, values.length - 1);
  const points = values.map(
    (value, index) => `${(index * step).toFixed(1)},${(height - 2 - (value / highest) * (height - 4)).toFixed(1)}`,
  );
  return (
    <svg
      width={isStretched ? "100%" : width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio={isStretched ? "none" : undefined}
      role="img"
      aria-label={label}
      className="sparkline"
    >
      <polygon points={`0,${height} ${points.join(" ")} ${width},${height}`} />
      <polyline points={points.join(" ")} />
    </svg>
  );
}
