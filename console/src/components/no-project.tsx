import { Button, Group, PasswordInput, VisuallyHidden } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { may, replaceSession, useSession } from "../api/session.ts";
import { signIn } from "../api/sign-in.ts";
import { Trans } from "../i18n/trans.tsx";
import { t } from "../i18n/translate.ts";
import { IconFolder, IconKey } from "../icons.tsx";
import { Empty } from "./empty.tsx";
import { useAction } from "./use-action.ts";

/** What a person without a project reads, or a form for the key of one: models are called, limited and billed by project. */
export function NoProject() {
  const { user } = useSession();
  return user === null ? <ProjectKeyForm /> : <AskForProject />;
}

function AskForProject() {
  const session = useSession();
  const { organization, user, contacts } = session;
  const mayManage = may(session, "organization.projects.write") || may(session, "organization.users.write");
  return (
    <Empty icon={<IconFolder />} title={t("You are in no project yet")}>
      <VisuallyHidden component="h1">{t("Project needed")}</VisuallyHidden>
      {t("Models are called, limited and billed by project. Somebody has to add you to one, as {{email}}.", {
        email: user?.email ?? "",
      })}
      <p>
        {mayManage ? (
          <Trans
            text="Add yourself to a project under <link>Projects</link>."
            tags={{ link: <Link to="/projects" className="link" /> }}
          />
        ) : contacts.length > 0 ? (
          t("Ask an owner of {{organization}}: {{names}}.", {
            organization: organization.name,
            names: contacts.map(({ name, email }) => `${name} (${email})`).join(", "),
          })
        ) : (
          t("Ask an owner of {{organization}}.", { organization: organization.name })
        )}
      </p>
    </Empty>
  );
}

/** Asks an administrator for a project's key: models are called, limited and billed by project. */
function ProjectKeyForm() {
  const client = useQueryClient();
  // Without the form library, which no other part of the first load needs.
  const [key, setKey] = useState("");
  const add = useAction(signIn, { onDone: (session) => replaceSession(client, session) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate({ key: key.trim() });
  };
  return (
    <Empty icon={<IconKey />} title={t("Add a project's API key")}>
      <VisuallyHidden component="h1">{t("Project's key needed")}</VisuallyHidden>
      {t(
        "Models are called, limited and billed by project, so an admin key alone cannot call them. Create a key under Projects, or paste one here: it joins this session and is not stored in the browser.",
      )}
      <form onSubmit={submit}>
        <Group mt="md" align="flex-start" wrap="nowrap">
          <PasswordInput
            flex={1}
            aria-label={t("API key")}
            placeholder="sk-…"
            autoComplete="off"
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            error={add.error?.message}
          />
          <Button type="submit" loading={add.isPending}>
            {t("Add")}
          </Button>
        </Group>
      </form>
    </Empty>
  );
}
