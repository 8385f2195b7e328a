import { type ReactNode, useCallback, useState } from "react";
import { request } from "../../api/request.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { NameDialog } from "../../components/name-dialog.tsx";
import { RowAction } from "../../components/row-action.tsx";
import { SpendForm } from "../../components/spend-form.tsx";
import { t } from "../../i18n/translate.ts";
import { keyPath, type Project } from "../projects/projects-api.ts";
import { isExpired } from "./expiry.tsx";
import { ExpiryDialog } from "./expiry-dialog.tsx";
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

type Change = "spend" | "expiry" | "name" | "rotate" | "revoke";

/** Keys that call models, with their expiry and spend limits. */
export function ProjectKeys({ project, path, nameDescription, create, ownerOf }: ProjectKeysProps) {
  const [edited, setEdited] = useState<{ listed: ListedKey; change: Change }>();
  const isActive = project.status === "active";
  const actions = useCallback(
    (key: ListedKey) => {
      if (!isActive) return null;
      const edit = (change: Change) => () => setEdited({ listed: key, change });
      return (
        <>
          <RowAction onClick={edit("spend")}>{t("Spend limit")}</RowAction>
          <RowAction disabled={isExpired(key.expires_at)} onClick={edit("expiry")}>
            {t("Expiry")}
          </RowAction>
          <RowAction onClick={edit("name")}>{t("Rename")}</RowAction>
          {/* Only people themselves rotate their keys. */}
          <RowAction disabled={!("service_account" in key.owner)} onClick={edit("rotate")}>
            {t("Rotate")}
          </RowAction>
          <RowAction isDestructive onClick={edit("revoke")}>
            {t("Revoke")}
          </RowAction>
        </>
      );
    },
    [isActive],
  );
  return (
    <>
      <KeyList
        path={path}
        newKey={isActive && <NewKey label={t("New key")} description={nameDescription} callsModels create={create} />}
        whenEmpty={t("Create a key to call the API for this project.")}
        actions={actions}
        {...(ownerOf && { ownerOf })}
      />
      {edited !== undefined && <KeyDialog {...edited} project={project.id} onClose={() => setEdited(undefined)} />}
    </>
  );
}

interface KeyDialogProps {
  project: string;
  listed: ListedKey;
  change: Change;
  onClose: () => void;
}

function KeyDialog({ project, listed, change, onClose }: KeyDialogProps) {
  const { name } = listed;
  const path = keyPath(project, listed.id);
  const set = (body: object) => request(path, { method: "POST", body });
  switch (change) {
    case "spend":
      return (
        <Dialog title={t("Spend limit of {{name}}", { name })} onClose={onClose}>
          <SpendForm owner={path} name={t("This key")} onSaved={onClose} />
        </Dialog>
      );
    case "expiry":
      return <ExpiryDialog name={name} save={(seconds) => set({ expires_in_seconds: seconds })} onClose={onClose} />;
    case "name":
      return (
        <NameDialog
          title={t("Rename {{name}}", { name })}
          action={t("Rename")}
          initialName={name}
          save={(next) => set({ name: next })}
          changes={[KEYS]}
          onClose={onClose}
        />
      );
    case "rotate":
      return <RotateKey project={project} rotated={listed} onClose={onClose} />;
    case "revoke":
      return (
        <ConfirmDialog
          onClose={onClose}
          question={t("Revoke {{name}}?", { name })}
          consequence={t(
            "Programs that use this key get a 401 at once, and sessions signed in with it end. A revoked key cannot be restored.",
          )}
          action={t("Revoke")}
          onConfirm={() => request(path, { method: "DELETE" })}
          changes={[KEYS]}
        />
      );
  }
}
