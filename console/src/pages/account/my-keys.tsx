import { useCallback, useState } from "react";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { RowAction } from "../../components/row-action.tsx";
import { t } from "../../i18n/translate.ts";
import { KEYS, KeyList, type ListedKey } from "../keys/key-list.tsx";
import { NewKey } from "../keys/new-key.tsx";
import { RotateKey } from "../keys/rotate-key.tsx";
import { keyPath, pathOf } from "../projects/projects-api.ts";

/** Keys of the signed-in user in a project. */
export function MyKeys({ project, user }: { project: string; user: string }) {
  const path = `${pathOf(project)}/api_keys`;
  const [revoked, setRevoked] = useState<ListedKey>();
  const [rotated, setRotated] = useState<ListedKey>();
  const isMine = useCallback(
    (key: ListedKey) => "user" in key.owner && key.owner.user.id === user && !isOfSession(key),
    [user],
  );
  const actions = useCallback(
    (key: ListedKey) => (
      <>
        <RowAction onClick={() => setRotated(key)}>{t("Rotate")}</RowAction>
        <RowAction isDestructive onClick={() => setRevoked(key)}>
          {t("Revoke")}
        </RowAction>
      </>
    ),
    [],
  );
  return (
    <>
      <KeyList
        path={path}
        whenEmpty={t("Create one for each program of yours that calls the API.")}
        actions={actions}
        shows={isMine}
        newKey={
          <NewKey
            label={t("New key")}
            description={t("Names the program that will use the key.")}
            callsModels
            create={async (name, seconds) => {
              const body = { name, expires_in_seconds: seconds };
              const { value } = await request<Answers["CreatedProjectApiKey"]>(path, { method: "POST", body });
              return value;
            }}
          />
        }
      />
      {rotated !== undefined && <RotateKey project={project} rotated={rotated} onClose={() => setRotated(undefined)} />}
      {revoked !== undefined && (
        <ConfirmDialog
          onClose={() => setRevoked(undefined)}
          question={t("Revoke {{name}}?", { name: revoked.name })}
          consequence={t("Programs that use this key get a 401 at once. A revoked key cannot be restored.")}
          action={t("Revoke")}
          onConfirm={() => request(keyPath(project, revoked.id), { method: "DELETE" })}
          changes={[KEYS]}
        />
      )}
    </>
  );
}

/** The console calls models with a key that nobody sends. */
function isOfSession({ redacted_value }: ListedKey): boolean {
  return redacted_value === "no key";
}
