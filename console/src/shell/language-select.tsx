import { ActionIcon } from "@mantine/core";
import { queryClient } from "../api/query-client.ts";
import { notifyFailure } from "../components/notify.tsx";
import { chooseLanguage } from "../i18n/change-language.ts";
import { currentLanguage, LANGUAGES, storedLanguage } from "../i18n/language.ts";
import { t } from "../i18n/translate.ts";
import { IconLanguage } from "../icons.tsx";

const COMPLETE = LANGUAGES.filter(({ isComplete }) => isComplete);

/** Actions that change the language, with its name. */
export function languageActions(): { id: string; label: string; run: () => void }[] {
  return COMPLETE.filter(({ id }) => id !== currentLanguage()).map(({ id, name }) => ({
    id: `language ${id}`,
    label: t("Language: {{name}}", { name }),
    run: () => choose(id),
  }));
}

/** A list of languages behind an icon; absent while there is only one. */
export function LanguageSelect() {
  if (COMPLETE.length === 1) return null;
  return (
    <ActionIcon component="span" variant="subtle" color="gray" className="language-select">
      <IconLanguage size={17} stroke={1.7} />
      <select
        aria-label={t("Language")}
        title={t("Language")}
        value={storedLanguage() ?? ""}
        onChange={({ currentTarget: { value } }) => choose(value === "" ? undefined : value)}
      >
        <option value="">{t("Language of the browser")}</option>
        {COMPLETE.map(({ id, name }) => (
          <option key={id} value={id} lang={id}>
            {name}
          </option>
        ))}
      </select>
    </ActionIcon>
  );
}

function choose(id: string | undefined): void {
  // What was read holds translated names, such as those of operations.
  chooseLanguage(id)
    .then(() => queryClient.invalidateQueries())
    .catch(notifyFailure);
}
