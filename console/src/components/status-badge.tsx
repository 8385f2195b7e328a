import { Badge } from "@mantine/core";

const COLORS: Readonly<Record<string, string>> = {
  up: "teal",
  loading: "blue",
  unloaded: "gray",
  restarting: "orange",
  failed: "red",
  unavailable: "red",
};

const WORDS: Readonly<Record<string, string>> = { up: "Ready", unloaded: "Not loaded" };

/** State of a deployment or model, in words as well as in color. */
export function StatusBadge({ state }: { state: string }) {
  return (
    <Badge variant="dot" color={COLORS[state] ?? "gray"} tt="none" fw={500} miw="max-content">
      {WORDS[state] ?? state.replace(/^./, (letter) => letter.toUpperCase())}
    </Badge>
  );
}
