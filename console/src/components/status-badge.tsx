import { Badge } from "@mantine/core";
import { type Message, msg, t } from "../i18n/translate.ts";

const COLORS: Readonly<Record<string, string>> = {
  up: "teal",
  loading: "blue",
  unloaded: "gray",
  restarting: "orange",
  failed: "red",
  unavailable: "red",
};

const WORDS: Readonly<Record<string, Message>> = {
  up: msg("Ready"),
  loading: msg("Loading"),
  unloaded: msg("Not loaded"),
  restarting: msg("Restarting"),
  failed: msg("Failed"),
  unavailable: msg("Unavailable"),
};

/** State of a deployment or model, in words as well as in color. */
export function StatusBadge({ state }: { state: string }) {
  const word = WORDS[state];
  return (
    <Badge variant="dot" color={COLORS[state] ?? "gray"} tt="none" fw={500} miw="max-content">
      {word === undefined ? state.replace(/^./, (letter) => letter.toUpperCase()) : t(word)}
    </Badge>
  );
}
