import { notifyFailure } from "../components/notify.tsx";
import { chooseLanguage } from "../i18n/change-language.ts";
import { currentLanguage, LANGUAGES } from "../i18n/language.ts";
import { t } from "../i18n/translate.ts";

/** Actions that change the language, with its name. */
export function languageActions(): { id: string; label: string; run: () => void }[] {
  return LANGUAGES.filter(({ id, isComplete }) => isComplete && id !== currentLanguage()).map(({ id, name }) => ({
    id: `language ${id}`,
    label: t("Language: {{name}}", { name }),
    run: () => void chooseLanguage(id).catch(notifyFailure),
  }));
}
