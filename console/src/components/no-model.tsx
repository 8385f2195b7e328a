import { Anchor, Button, Group } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Task } from "../api/models.ts";
import { may, useSession } from "../api/session.ts";
import { type Message, msg, t } from "../i18n/translate.ts";
import { Empty } from "./empty.tsx";

const MISSING: Readonly<Record<Task, Message>> = {
  chat: msg("This project has no chat model"),
  embedding: msg("This project has no embedding model"),
  moderation: msg("This project has no moderation model"),
  speech: msg("This project has no speech model"),
  transcription: msg("This project has no transcription model"),
  image: msg("This project has no image model"),
};

/** What a page shows that needs a model which the project lacks: a way to one, or who has it. */
export function NoModel({ task, icon }: { task: Task; icon: ReactNode }) {
  const session = useSession();
  const canAdd = session.is_admin && session.organization.is_default;
  const canAllow = may(session, "organization.read");
  return (
    <Empty icon={icon} title={t(MISSING[task])}>
      {canAdd
        ? t("Pull one to this machine, or connect a host that has one. The project's permissions have to allow it.")
        : t("An administrator can add one, or allow one in the permissions of the project.")}
      {canAdd && (
        <Group justify="center" mt="md" gap="xs">
          <Button component={Link} to="/models">
            {t("Pull a model")}
          </Button>
          <Button component={Link} to="/connections" variant="default">
            {t("Connect a host")}
          </Button>
        </Group>
      )}
      {!canAdd && canAllow && (
        <Anchor component={Link} to="/projects" mt="xs" display="block">
          {t("Permissions of the project")}
        </Anchor>
      )}
    </Empty>
  );
}
