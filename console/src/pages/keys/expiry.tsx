import { Badge } from "@mantine/core";
import { formatDateTime } from "../../components/format.ts";
import { t } from "../../i18n/translate.ts";

export function isExpired(at: number | null): boolean {
  return at !== null && at * 1000 <= Date.now();
}

/** When a key expires, in Unix seconds. */
export function Expiry({ at }: { at: number | null }) {
  if (at === null) return t("Never");
  if (!isExpired(at)) return formatDateTime(at);
  return (
    <Badge color="gray" variant="light">
      {t("expired")}
    </Badge>
  );
}
