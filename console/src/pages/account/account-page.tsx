import { Button, Card, Group, PasswordInput, Stack, Tabs, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Link } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import type { Session } from "../../api/sign-in.ts";
import { FieldForm } from "../../components/field-form.tsx";
import { Page } from "../../components/page.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { useSave } from "../../components/use-save.ts";
import { Trans } from "../../i18n/trans.tsx";
import { t } from "../../i18n/translate.ts";
import { AccessTable } from "../people/access-table.tsx";
import { MyKeys } from "./my-keys.tsx";
import { checkNewPassword, NewPassword } from "./new-password.tsx";
import { useSessionStart } from "./use-session-start.ts";

/** The signed-in person: keys, roles and password. */
export function AccountPage() {
  const { user, project } = useSession();
  const [{ tab }, setAddress] = useAddressState({ tab: "keys" });
  if (user === null) return <Page title={t("Account")}>{t("This session belongs to keys, not to a user.")}</Page>;
  return (
    <Page
      title={user.name}
      description={
        user.provider === null
          ? user.email
          : t("{{email}}, signed in with {{provider}}", { email: user.email, provider: user.provider })
      }
    >
      <Tabs value={tab} onChange={(next) => setAddress({ tab: next ?? "keys" })} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="keys">{t("My keys")}</Tabs.Tab>
          <Tabs.Tab value="access">{t("What I may do")}</Tabs.Tab>
          {user.has_password && <Tabs.Tab value="password">{t("Password")}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="keys">
          {project === null ? (
            <Text>{t("You are in no project in which you may call models. Ask an owner to add you.")}</Text>
          ) : (
            <Stack>
              <Text size="sm" c="dimmed">
                <Trans
                  text="Keys of yours in {{project}}. <link>My usage</link>"
                  tags={{ link: <Link to="/my-usage" className="link" /> }}
                  values={{ project: project.name }}
                />
              </Text>
              <MyKeys project={project.id} user={user.id} />
            </Stack>
          )}
        </Tabs.Panel>
        <Tabs.Panel value="access">
          <AccessTable user={user.id} />
        </Tabs.Panel>
        <Tabs.Panel value="password">
          <ChangePassword />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function ChangePassword() {
  const start = useSessionStart();
  const form = useForm({
    initialValues: { current_password: "", password: "" },
    validate: { password: checkNewPassword },
  });
  const change = useSave({
    save: (body: typeof form.values) => request<Session>("console/password", { method: "POST", body }),
    onSaved: start,
    form,
  });
  return (
    <Card maw={440}>
      <FieldForm form={form} saving={change}>
        <PasswordInput
          label={t("Current password")}
          autoComplete="current-password"
          required
          {...form.getInputProps("current_password")}
        />
        <NewPassword {...form.getInputProps("password")} />
        <Group justify="flex-end">
          <Button type="submit" loading={change.isPending}>
            {t("Change password")}
          </Button>
        </Group>
      </FieldForm>
    </Card>
  );
}
