import { Button, Group } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { t } from "../../i18n/translate.ts";
import { IconPlus } from "../../icons.tsx";
import { removeServer, SERVER_QUERIES, type ServerEntry } from "./mcp-api.ts";

const ServerForm = lazy(async () => ({ default: (await import("./server-form.tsx")).ServerForm }));

/** Button that opens the form of a new server. */
export function AddServer() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={() => setIsOpen(true)}>
        {t("Add server")}
      </Button>
      <Suspense>{isOpen && <ServerForm close={() => setIsOpen(false)} />}</Suspense>
    </>
  );
}

/** Changes and removes a server of the API. */
export function ServerActions({ entry }: { entry: ServerEntry }) {
  const [isOpen, setIsOpen] = useState(false);
  const navigate = useNavigate();
  const { name } = entry;
  return (
    <Group gap="xs" wrap="nowrap">
      <Button variant="default" aria-label={t("Edit {{name}}", { name })} onClick={() => setIsOpen(true)}>
        {t("Edit")}
      </Button>
      <ConfirmButton
        question={t("Remove {{name}}?", { name })}
        consequence={t("Calls that run end normally, further ones are refused. The history can restore it.")}
        onConfirm={async () => {
          await removeServer(name);
          await navigate({ to: "/mcp" });
        }}
        done={t("{{name}} is removed", { name })}
        changes={SERVER_QUERIES}
      >
        {t("Remove")}
      </ConfirmButton>
      <Suspense>{isOpen && <ServerForm entry={entry} close={() => setIsOpen(false)} />}</Suspense>
    </Group>
  );
}
