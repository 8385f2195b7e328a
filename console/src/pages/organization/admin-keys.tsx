import { Stack, Text } from "@mantine/core";
import { useCallback, useState } from "react";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { RowAction } from "../../components/row-action.tsx";
import { t } from "../../i18n/translate.ts";
import { KEYS, KeyList, type ListedKey } from "../keys/key-list.tsx";
import { NewKey } from "../keys/new-key.tsx";
import { KeyPermissions } from "./key-permissions.tsx";

const PATH = "v1/organization/admin_api_keys";

export function AdminKeys() {
  const [revoked, setRevoked] = useState<ListedKey>();
  const [permissions, setPermissions] = useState<string[]>([]);
  const actions = useCallback(
    (key: ListedKey) => (
      <RowAction isDestructive onClick={() => setRevoked(key)}>
        {t("Revoke")}
      </RowAction>
    ),
    [],
  );
  const newKey = (
    <NewKey
      label={t("New admin key")}
      description={t("Names the person or program that will administer with it.")}
      callsModels={false}
      create={async (name, seconds) => {
        const body = { name, expires_in_seconds: seconds, ...(permissions.length > 0 && { permissions }) };
        const { value } = await request<Answers["CreatedAdminApiKey"]>(PATH, { method: "POST", body });
        setPermissions([]);
        return value;
      }}
    >
      <KeyPermissions value={permissions} onChange={setPermissions} />
    </NewKey>
  );
  return (
    <Stack>
      <Text size="sm" c="dimmed" maw={560}>
        {t("Admin keys manage projects, keys and limits and read usage. They do not call models.")}
      </Text>
      <KeyList path={PATH} newKey={newKey} whenEmpty={t("Create one for each administrator.")} actions={actions} />
      {revoked !== undefined && (
        <ConfirmDialog
          onClose={() => setRevoked(undefined)}
          question={t("Revoke {{name}}?", { name: revoked.name })}
          consequence={t(
            "Programs that use this key get a 401 at once, and sessions signed in with it end: yours too, if it is the key you signed in with. The last admin key can be replaced only on the machine itself, with `parlance keys`.",
          )}
          action={t("Revoke")}
          onConfirm={() => request(`${PATH}/${encodeURIComponent(revoked.id)}`, { method: "DELETE" })}
          changes={[KEYS]}
        />
      )}
    </Stack>
  );
}
