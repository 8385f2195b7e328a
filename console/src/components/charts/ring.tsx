import "./charts.css";
import type { ReactNode } from "react";

interface RingProps {
  /** Part of the whole; above 1 the ring is closed. */
  share: number;
  /** CSS color. */
  color: string;
  /** What it shows, for screen readers. */
  label: string;
  size?: number;
  children?: ReactNode;
}

const WIDTH = 7;

/** Part of a whole, such as what is spent of a budget, as an arc around its number. */
export function Ring({ share, color, label, size = 72, children }: RingProps) {
  const radius = (size - WIDTH) / 2;
  const length = 2 * Math.PI * radius;
  const filled = Math.min(1, Math.max(0, share));
  return (
    <div
      className="ring"
      style={{ width: size, height: size }}
      role="img"
      aria-label={`${label}: ${Math.round(100 * share)} %`}
    >
      <svg width={size} height={size} viewBox={`0 0 ${size} ${size}`} aria-hidden="true">
        <circle className="ring-track" cx={size / 2} cy={size / 2} r={radius} strokeWidth={WIDTH} />
        {filled > 0 && (
          <circle
            className="ring-arc"
            cx={size / 2}
            cy={size / 2}
            r={radius}
            strokeWidth={WIDTH}
            stroke={color}
            strokeDasharray={`${filled * length} ${length}`}
            transform={`rotate(-90 ${size / 2} ${size / 2})`}
          />
        )}
      </svg>
      <span className="ring-text tabular">{children}</span>
    </div>
  );
}
