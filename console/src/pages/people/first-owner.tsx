import { Button, Card, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { request, urlOf } from "../../api/request.ts";
import { replaceSession, useSession } from "../../api/session.ts";
import type { Session } from "../../api/sign-in.ts";
import { FieldForm } from "../../components/field-form.tsx";
import { useSave } from "../../components/use-save.ts";
import { t } from "../../i18n/translate.ts";
import { checkNewPassword, NewPassword } from "../account/new-password.tsx";

/** Makes the operator, who is signed in with keys, the first owner. */
export function FirstOwner() {
  const client = useQueryClient();
  const { sign_in: options } = useSession();
  const form = useForm({
    initialValues: { name: "", email: "", password: "" },
    validate: { password: checkNewPassword },
  });
  const create = useSave({
    save: (body: typeof form.values) => request<Session>("console/first_owner", { method: "POST", body }),
    onSaved: (session) => replaceSession(client, session),
    form,
  });
  return (
    <Card maw={560}>
      <Stack>
        <Title order={2}>{t("Become the first owner")}</Title>
        <Text size="sm" c="dimmed">
          {t(
            "You are signed in with the operator's keys. With an account of your own, the audit log names you, and you can invite others and take their access back.",
          )}
        </Text>
        {options.providers.map(({ id, name }) => (
          <Button
            key={id}
            component="a"
            href={urlOf(`sign-on/${id}/start`, { first_owner: 1, return_to: "/people" })}
            variant="default"
          >
            {t("Continue with {{name}}", { name })}
          </Button>
        ))}
        {options.password && (
          <FieldForm form={form} saving={create}>
            <TextInput label={t("Your name")} autoComplete="name" required {...form.getInputProps("name")} />
            <TextInput
              label={t("E-mail address")}
              type="email"
              autoComplete="email"
              required
              {...form.getInputProps("email")}
            />
            <NewPassword {...form.getInputProps("password")} />
            <Group justify="flex-end">
              <Button type="submit" loading={create.isPending}>
                {t("Become the owner")}
              </Button>
            </Group>
          </FieldForm>
        )}
      </Stack>
    </Card>
  );
}
