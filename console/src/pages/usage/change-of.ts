import { formatPercent } from "../../components/format.ts";
import { t } from "../../i18n/translate.ts";

/** How a sum compares with that of the period before, such as `+12 %`. */
export function changeOf(now: number, before: number): string {
  if (before === 0) return now === 0 ? "—" : t("new");
  const share = now / before - 1;
  // Rounded, it would be a change of nothing.
  if (Math.abs(share) < 0.005) return "±0 %";
  return `${share > 0 ? "+" : "−"}${formatPercent(Math.abs(share))}`;
}
