import { Button, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import type { Session } from "../../api/session.ts";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { t } from "../../i18n/translate.ts";
import { checkNewPassword, NewPassword } from "./new-password.tsx";
import { OutsidePage } from "./outside-page.tsx";
import { useSessionStart } from "./use-session-start.ts";

/** Sets a password with the link of an administrator. */
export function PasswordPage() {
  const { token = "" } = useSearch({ strict: false }) as { token?: string };
  const start = useSessionStart();
  const form = useForm({ initialValues: { password: "" }, validate: { password: checkNewPassword } });
  const set = useMutation({
    mutationFn: ({ password }: typeof form.values) =>
      request<Session>("console/password", { method: "POST", body: { token, password } }),
    onSuccess: start,
  });
  return (
    <OutsidePage title={t("Set a password")}>
      <form onSubmit={form.onSubmit((values) => set.mutate(values))}>
        <Stack>
          <ErrorAlert error={set.error} />
          <NewPassword {...form.getInputProps("password")} />
          <Button type="submit" size="md" loading={set.isPending} fullWidth>
            {t("Set password and sign in")}
          </Button>
          <Text size="sm" c="dimmed">
            {t("Your other sessions end.")}
          </Text>
        </Stack>
      </form>
    </OutsidePage>
  );
}
