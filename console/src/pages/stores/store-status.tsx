import { Badge } from "@mantine/core";
import { type Message, msg, t } from "../../i18n/translate.ts";

const COLORS: Readonly<Record<string, string>> = {
  completed: "teal",
  in_progress: "blue",
  failed: "red",
  expired: "gray",
};
const WORDS: Readonly<Record<string, Message>> = {
  completed: msg("Ready"),
  in_progress: msg("Reading"),
  failed: msg("Failed"),
  expired: msg("Expired"),
  cancelled: msg("Canceled"),
};

/** State of a store or of a file in it. */
export function StoreStatus({ status }: { status: string }) {
  return (
    <Badge variant="dot" color={COLORS[status] ?? "gray"} tt="none" fw={500} miw="max-content">
      {WORDS[status] === undefined ? status : t(WORDS[status])}
    </Badge>
  );
}
