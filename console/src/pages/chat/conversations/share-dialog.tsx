import { Alert, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useSession } from "../../../api/session.ts";
import { CopyButton } from "../../../components/copy-button.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { notifyDone } from "../../../components/notify.tsx";
import { useAction } from "../../../components/use-action.ts";
import { t } from "../../../i18n/translate.ts";
import { useChatSync } from "../use-chat.ts";
import { endSharing, share } from "./conversation-changes.ts";

interface ShareDialogProps {
  /** ID of the conversation. */
  id: string;
  onClose: () => void;
}

/** Creates, renews and removes the copy of a conversation that members of the project read by its link. */
export function ShareDialog({ id, onClose }: ShareDialogProps) {
  const { project } = useSession();
  const { entries } = useChatSync();
  const shareId = entries.find((entry) => entry.id === id)?.share_id ?? null;
  const creating = useAction(() => share(id));
  const renewing = useAction(() => share(id), { onDone: () => notifyDone(t("The copy is up to date")) });
  const ending = useAction(() => endSharing(id));
  const error = creating.error ?? renewing.error ?? ending.error;
  return (
    <Dialog onClose={onClose} title={t("Share this conversation")}>
      <Stack>
        <Text size="sm">
          {t(
            "Members of {{project}} who have the link and are signed in can read a copy: the messages that you see now, without parameters and other branches. What you write later is not in it.",
            { project: project?.name ?? "" },
          )}
        </Text>
        {shareId === null ? (
          <Group justify="flex-end">
            <Button loading={creating.isPending} onClick={() => creating.mutate()}>
              {t("Create link")}
            </Button>
          </Group>
        ) : (
          <>
            <TextInput
              label={t("Link")}
              readOnly
              value={linkTo(shareId, project?.id ?? "")}
              rightSection={<CopyButton text={linkTo(shareId, project?.id ?? "")} label={t("Copy link")} />}
              onFocus={(event) => event.currentTarget.select()}
            />
            <Group justify="space-between">
              <Button variant="subtle" color="red" loading={ending.isPending} onClick={() => ending.mutate()}>
                {t("Stop sharing")}
              </Button>
              <Button variant="default" loading={renewing.isPending} onClick={() => renewing.mutate()}>
                {t("Update the copy")}
              </Button>
            </Group>
          </>
        )}
        {error !== null && (
          <Alert color="red" variant="light" p="xs" role="alert">
            {error.message}
          </Alert>
        )}
      </Stack>
    </Dialog>
  );
}

/** The project is in the link: whoever opens it may be in another one. */
function linkTo(shareId: string, projectId: string): string {
  const query = new URLSearchParams({ id: shareId, project: projectId });
  return `${location.href.split("#", 1)[0]}#/shared?${query}`;
}
