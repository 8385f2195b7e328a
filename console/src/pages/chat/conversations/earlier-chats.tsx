import { Alert, Group, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { notifyDone } from "../../../components/notify.tsx";
import { plural, t } from "../../../i18n/translate.ts";
import { SavedChatsApi } from "../saved-chats-api.ts";

/** Offers to delete chats that the service saved before the operator turned that off. */
export function EarlierChats({ projectId }: { projectId: string }) {
  const api = new SavedChatsApi(projectId);
  const client = useQueryClient();
  const queryKey = ["earlier-chats", projectId];
  const { data: chats = [] } = useQuery({ queryKey, queryFn: () => api.list() });
  if (chats.length === 0) return null;
  const remove = async () => {
    await api.deleteAll();
    await client.invalidateQueries({ queryKey });
    notifyDone(t("The earlier conversations are deleted"));
  };
  return (
    <Alert color="gray" p="sm">
      <Text size="sm">
        {plural(
          chats.length,
          "The service no longer saves conversations. {{count}} earlier one of yours in this project is stored there, encrypted, until it expires.",
          "The service no longer saves conversations. {{count}} earlier ones of yours in this project are stored there, encrypted, until they expire.",
        )}
      </Text>
      <Group justify="flex-end" mt="xs">
        <ConfirmButton
          question={t("Delete the earlier conversations?")}
          consequence={t("Those of this project that the service stores are deleted. This cannot be undone.")}
          onConfirm={remove}
        >
          {t("Delete them")}
        </ConfirmButton>
      </Group>
    </Alert>
  );
}
