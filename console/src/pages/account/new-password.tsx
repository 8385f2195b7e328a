import { PasswordInput } from "@mantine/core";
import { t } from "../../i18n/translate.ts";

/** The service refuses shorter ones. */
const MIN_LENGTH = 15;

/** Checks a new password before it is sent. */
export function checkNewPassword(password: string): string | null {
  return [...password].length >= MIN_LENGTH
    ? null
    : t("At least {{number}} characters; several words are easy to remember.", { number: MIN_LENGTH });
}

export function NewPassword(props: object) {
  return (
    <PasswordInput
      label={t("New password")}
      description={t("At least {{number}} characters.", { number: MIN_LENGTH })}
      autoComplete="new-password"
      required
      {...props}
    />
  );
}
