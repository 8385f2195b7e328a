import { Button, Group, PasswordInput, VisuallyHidden } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { replaceSession, signIn } from "../api/session.ts";
import { t } from "../i18n/translate.ts";
import { IconKey } from "../icons.tsx";
import { Empty } from "./empty.tsx";

/** Asks an administrator for a project's key: models are called, limited and billed by project. */
export function ProjectKeyForm() {
  const client = useQueryClient();
  // Without the form library, which no other part of the first load needs.
  const [key, setKey] = useState("");
  const add = useMutation({
    mutationFn: signIn,
    onSuccess: (session) => replaceSession(client, session),
  });
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
