import { Button, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useSearch } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import type { Session } from "../../api/sign-in.ts";
import { FieldForm } from "../../components/field-form.tsx";
import { useSave } from "../../components/use-save.ts";
import { t } from "../../i18n/translate.ts";
import { checkNewPassword, NewPassword } from "./new-password.tsx";
import { OutsidePage } from "./outside-page.tsx";
import { useSessionStart } from "./use-session-start.ts";

/** Sets a password with the link of an administrator. */
export function PasswordPage() {
  const { token = "" } = useSearch({ strict: false }) as { token?: string };
  const start = useSessionStart();
  const form = useForm({ initialValues: { password: "" }, validate: { password: checkNewPassword } });
  const set = useSave({
    save: ({ password }: typeof form.values) =>
      request<Session>("console/password", { method: "POST", body: { token, password } }),
    onSaved: start,
    form,
  });
  return (
    <OutsidePage title={t("Set a password")}>
      <FieldForm form={form} saving={set}>
        <NewPassword {...form.getInputProps("password")} />
        <Button type="submit" size="md" loading={set.isPending} fullWidth>
          {t("Set password and sign in")}
        </Button>
        <Text size="sm" c="dimmed">
          {t("Your other sessions end.")}
        </Text>
      </FieldForm>
    </OutsidePage>
  );
}
