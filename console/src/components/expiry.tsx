import { Badge } from "@mantine/core";
import { formatDate } from "./format.ts";

export const EXPIRIES = [
  { value: "", label: "Never" },
  { value: "1", label: "In a day" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
];

/** Seconds of an entry of EXPIRIES; undefined: never. */
export function secondsOf(expiry: string): number | undefined {
  return expiry === "" ? undefined : Number(expiry) * 86_400;
}

/** When a key expires, in Unix seconds. */
export function Expiry({ at }: { at: number | null }) {
  if (at === null) return "Never";
  if (at * 1000 > Date.now()) return formatDate(at);
  return (
    <Badge color="gray" variant="light">
      expired
    </Badge>
  );
}
