import { Badge } from "@mantine/core";

const COLORS: Readonly<Record<string, string>> = {
  completed: "teal",
  in_progress: "blue",
  failed: "red",
  expired: "gray",
};
const WORDS: Readonly<Record<string, string>> = { completed: "Ready", in_progress: "Reading", cancelled: "Canceled" };

/** State of a store or of a file in it. */
export function StoreStatus({ status }: { status: string }) {
  return (
    <Badge variant="dot" color={COLORS[status] ?? "gray"} tt="none" fw={500} miw="max-content">
      {WORDS[status] ?? status.replace(/^./, (letter) => letter.toUpperCase())}
    </Badge>
  );
}
