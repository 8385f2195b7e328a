import { Modal } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useCallback, useState } from "react";
import { request } from "../../api/request.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { NameForm } from "../../components/name-form.tsx";
import { RowAction } from "../../components/row-action.tsx";
import { SpendForm } from "../../components/spend-form.tsx";
import { t } from "../../i18n/translate.ts";
import { keyPath, type Project } from "../projects/projects-api.ts";
import { isExpired } from "./expiry.tsx";
import { ExpiryForm } from "./expiry-form.tsx";
import { KEYS, KeyList, type ListedKey } from "./key-list.tsx";
import { NewKey } from "./new-key.tsx";
import { RotateKey } from "./rotate-key.tsx";

interface ProjectKeysProps {
  project: Project;
  /** Path of the list: keys of the project, or of one of its service accounts. */
  path: string;
  /** What the name of a new key is for. */
  nameDescription: string;
  /** Creates a key and resolves with the secret. */
  create: (name: string, expiresInSeconds: number | null) => Promise<string>;
  ownerOf?: (key: ListedKey) => ReactNode;
}

type Edited = { key: ListedKey; what: "spend" | "expiry" | "name" | "revoke" };

function titleOf(edited: Edited | undefined): string {
  const name = edited?.key.name ?? "";
  if (edited?.what === "name") return t("Rename {{name}}", { name });
  return edited?.what === "spend" ? t("Spend limit of {{name}}", { name }) : t("Expiry of {{name}}", { name });
}

/** Keys that call models, with their expiry and spend limits. */
export function ProjectKeys({ project, path, nameDescription, create, ownerOf }: ProjectKeysProps) {
  const client = useQueryClient();
  // Stays set while a dialog closes, which would otherwise lose its text before it is gone.
  const [edited, setEdited] = useState<Edited>();
  const [rotated, setRotated] = useState<ListedKey>();
  const [isOpen, { open, close }] = useDisclosure(false);
  const isActive = project.status === "active";
  const edit = useCallback(
    (key: ListedKey, what: Edited["what"]) => {
      setEdited({ key, what });
      open();
    },
    [open],
  );
  const actions = useCallback(
    (key: ListedKey) =>
      isActive && (
        <>
          <RowAction onClick={() => edit(key, "spend")}>{t("Spend limit")}</RowAction>
          <RowAction disabled={isExpired(key.expires_at)} onClick={() => edit(key, "expiry")}>
            {t("Expiry")}
          </RowAction>
          <RowAction onClick={() => edit(key, "name")}>{t("Rename")}</RowAction>
          {/* Only people themselves rotate their keys. */}
          <RowAction disabled={!("service_account" in key.owner)} onClick={() => setRotated(key)}>
            {t("Rotate")}
          </RowAction>
          <RowAction isDestructive onClick={() => edit(key, "revoke")}>
            {t("Revoke")}
          </RowAction>
        </>
      ),
    [isActive, edit],
  );
  const newKey = isActive && (
    <NewKey
      label={t("New key")}
      description={nameDescription}
      callsModels
      create={async (name, seconds) => {
        const secret = await create(name, seconds);
        await client.invalidateQueries({ queryKey: KEYS });
        return secret;
      }}
    />
  );
  return (
    <>
      <KeyList
        path={path}
        newKey={newKey}
        whenEmpty={t("Create a key to call the API for this project.")}
        actions={actions}
        {...(ownerOf && { ownerOf })}
      />
      <Modal opened={isOpen && edited?.what !== "revoke"} onClose={close} title={titleOf(edited)}>
        {edited?.what === "spend" && (
          <SpendForm owner={keyPath(project.id, edited.key.id)} name={t("This key")} onSaved={close} />
        )}
        {edited?.what === "name" && (
          <NameForm
            initialName={edited.key.name}
            action={t("Rename")}
            save={async (name) => {
              await request(keyPath(project.id, edited.key.id), { method: "POST", body: { name } });
              close();
              await client.invalidateQueries({ queryKey: KEYS });
            }}
          />
        )}
        {edited?.what === "expiry" && (
          <ExpiryForm
            save={(seconds) =>
              request(keyPath(project.id, edited.key.id), { method: "POST", body: { expires_in_seconds: seconds } })
            }
            onSaved={() => {
              close();
              void client.invalidateQueries({ queryKey: KEYS });
            }}
          />
        )}
      </Modal>
      {rotated !== undefined && (
        <RotateKey project={project.id} rotated={rotated} onClose={() => setRotated(undefined)} />
      )}
      <ConfirmDialog
        isOpen={isOpen && edited?.what === "revoke"}
        onClose={close}
        question={t("Revoke {{name}}?", { name: edited?.key.name ?? "" })}
        consequence={t(
          "Programs that use this key get a 401 at once, and sessions signed in with it end. A revoked key cannot be restored.",
        )}
        action={t("Revoke")}
        onConfirm={async () => {
          await request(keyPath(project.id, edited?.key.id ?? ""), { method: "DELETE" });
          await client.invalidateQueries({ queryKey: KEYS });
        }}
      />
    </>
  );
}
