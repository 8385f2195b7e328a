import { Button, Divider, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { Answers } from "../../api/answers.ts";
import { request, urlOf } from "../../api/request.ts";
import { sessionQuery } from "../../api/session.ts";
import type { Session, SignInOptions } from "../../api/sign-in.ts";
import { FieldForm } from "../../components/field-form.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { useSave } from "../../components/use-save.ts";
import { Trans } from "../../i18n/trans.tsx";
import { t } from "../../i18n/translate.ts";
import { checkNewPassword, NewPassword } from "./new-password.tsx";
import { OutsidePage } from "./outside-page.tsx";
import { useSessionStart } from "./use-session-start.ts";

type Invite = Answers["ConsoleInvite"];

/** Accepts an invite by its link, with a provider or a password. */
export function InvitePage() {
  const { token = "" } = useSearch({ strict: false }) as { token?: string };
  const session = useQuery(sessionQuery);
  const invite = useQuery({
    queryKey: ["invite", token],
    queryFn: () => request<Invite>("console/invite", { method: "POST", body: { token } }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const options = session.data?.sign_in;
  return (
    <OutsidePage title={t("Welcome")}>
      {session.data?.signed_in === true ? (
        <Text>{t("You are signed in already. Sign out first to accept an invite as somebody else.")}</Text>
      ) : (
        <QueryView query={invite}>
          {(found) => options !== undefined && <Accept invite={found} token={token} options={options} />}
        </QueryView>
      )}
    </OutsidePage>
  );
}

function Accept({ invite, token, options }: { invite: Invite; token: string; options: SignInOptions }) {
  const start = useSessionStart();
  const form = useForm({
    initialValues: { name: "", password: "" },
    validate: { password: checkNewPassword },
  });
  const accept = useSave({
    save: (values: typeof form.values) =>
      request<Session>("console/invite/accept", { method: "POST", body: { token, ...values } }),
    onSaved: start,
    form,
  });
  const { providers, password } = options;
  return (
    <Stack>
      <Text>
        <Trans
          text="You are invited to <b>{{organization}}</b> as <b>{{email}}</b>."
          tags={{ b: <b /> }}
          values={{ organization: invite.organization.name, email: invite.email }}
        />
      </Text>
      {providers.map(({ id, name }) => (
        <Button key={id} component="a" href={urlOf(`sign-on/${id}/start`, { invite: token })} size="md" fullWidth>
          {t("Continue with {{name}}", { name })}
        </Button>
      ))}
      {providers.length > 0 && password && <Divider label={t("or")} />}
      {password && (
        <FieldForm form={form} saving={accept}>
          <TextInput label={t("Your name")} autoComplete="name" required {...form.getInputProps("name")} />
          <NewPassword {...form.getInputProps("password")} />
          <Button
            type="submit"
            size="md"
            loading={accept.isPending}
            variant={providers.length > 0 ? "default" : "filled"}
            fullWidth
          >
            {t("Accept with a password")}
          </Button>
        </FieldForm>
      )}
    </Stack>
  );
}
