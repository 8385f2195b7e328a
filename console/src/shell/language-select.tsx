import language from "virtual:tabler/language";
import { icon } from "../components/icon.tsx";
import { chooseLanguage } from "../i18n/change-language.ts";
import { LANGUAGES, storedLanguage } from "../i18n/language.ts";
import { t } from "../i18n/translate.ts";

const IconLanguage = icon(language);
const COMPLETE = LANGUAGES.filter(({ isComplete }) => isComplete);

/** A list of languages behind an icon; absent while there is only one. */
export function LanguageSelect({ onFailure }: { onFailure: (failure: Error) => void }) {
  if (COMPLETE.length === 1) return null;
  return (
    <span className="language-select">
      <IconLanguage size={17} stroke={1.7} />
      <select
        aria-label={t("Language")}
        title={t("Language")}
        value={storedLanguage() ?? ""}
        onChange={({ currentTarget: { value } }) =>
          void chooseLanguage(value === "" ? undefined : value).catch(onFailure)
        }
      >
        <option value="">{t("Language of the browser")}</option>
        {COMPLETE.map(({ id, name }) => (
          <option key={id} value={id} lang={id}>
            {name}
          </option>
        ))}
      </select>
    </span>
  );
}
