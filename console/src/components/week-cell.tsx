import { t } from "../i18n/translate.ts";
import { Sparkline } from "./charts/sparkline.tsx";
import { formatCompact } from "./format.ts";

/** Requests of seven days as a number with their course. */
export function WeekCell({ values = [] }: { values?: readonly number[] | undefined }) {
  const total = values.reduce((sum, value) => sum + value, 0);
  const text = formatCompact(total);
  return (
    <span className="week-cell tabular">
      <Sparkline values={values} label={t("{{number}} requests in seven days", { number: text })} />
      {text}
    </span>
  );
}
