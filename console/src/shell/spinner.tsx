import { t } from "../i18n/translate.ts";
import "./entry.css";

export function Spinner() {
  return (
    <div className="entry-spinner-page">
      <span className="entry-spinner" role="img" aria-label={t("Loading")} />
    </div>
  );
}
