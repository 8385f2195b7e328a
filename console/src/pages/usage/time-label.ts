import { formatDate, formatDateTime, formatTimeOfDay } from "../../components/format.ts";
import type { UsageSelection } from "./usage-query.ts";

/** Start of a bucket, as short as its range allows. */
export function timeLabel(time: number, { range, interval }: Pick<UsageSelection, "range" | "interval">): string {
  if (interval === "1d") return formatDate(time);
  return range === "7d" ? formatDateTime(time) : formatTimeOfDay(time);
}
