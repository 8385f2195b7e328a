import { ActionIcon } from "@mantine/core";
import { notifyFailure } from "../components/notify.tsx";
import { chooseLanguage } from "../i18n/change-language.ts";
import { currentLanguage, LANGUAGES, storedLanguage } from "../i18n/language.ts";
import { t } from "../i18n/translate.ts";
import { IconLanguage } from "../icons.tsx";

/** A list of languages behind an icon; absent while there is only one. */
export function LanguageSelect() {
  const stored = storedLanguage();
  const offered = LANGUAGES.filter(({ id, isComplete }) => isComplete || id === currentLanguage());
  if (offered.length === 1) return null;
  return (
    <ActionIcon component="span" variant="subtle" color="gray" className="language-select">
      <IconLanguage size={17} stroke={1.7} />
      <select
        aria-label={t("Language")}
        title={t("Language")}
        value={stored ?? ""}
        onChange={({ currentTarget: { value } }) => {
          chooseLanguage(value === "" ? undefined : value).catch(notifyFailure);
        }}
      >
        <option value="">{t("Language of the browser")}</option>
        {offered.map(({ id, name }) => (
          <option key={id} value={id} lang={id}>
            {name}
          </option>
        ))}
      </select>
    </ActionIcon>
  );
}
