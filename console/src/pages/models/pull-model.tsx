import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { IconDownload } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { modelsQuery } from "../../api/models.ts";
import { send } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { notifyDone } from "../../components/notify.tsx";
import { PullBar } from "./pull-bar.tsx";
import { type PullProgress, readPull } from "./read-pull.ts";

/** Downloads a model by its ID, for administrators of the installation. */
export function PullModel() {
  const session = useSession();
  const client = useQueryClient();
  const [isOpen, { open, close }] = useDisclosure(false);
  const [progress, setProgress] = useState<PullProgress>();
  const form = useForm({ initialValues: { id: "" } });
  const pull = useMutation({
    mutationFn: async (id: string) => {
      const path = `v1/organization/models/${encodeURIComponent(id)}/pull`;
      await readPull(await send(path, { method: "POST" }), setProgress);
    },
    onSuccess: async (_done, id) => {
      notifyDone(`The files of ${id} are complete`);
      close();
      form.reset();
      await client.invalidateQueries({ queryKey: modelsQuery.queryKey });
    },
    onSettled: () => setProgress(undefined),
  });
  if (!session.is_admin || !session.organization.is_default) return null;
  return (
    <>
      <Button variant="default" leftSection={<IconDownload size={16} />} onClick={open}>
        Pull a model
      </Button>
      <Modal opened={isOpen} onClose={close} title="Pull a model">
        <form onSubmit={form.onSubmit(({ id }) => pull.mutate(id.trim()))}>
          <Stack>
            <TextInput
              label="Model ID"
              description="A built-in model, or a GGUF file as hf:owner/repo/file.gguf. `parlance models list --all` lists the built-in ones."
              data-autofocus
              required
              {...form.getInputProps("id")}
              error={pull.error?.message}
            />
            {progress !== undefined && <PullBar model={form.values.id} progress={progress} />}
            <Text size="sm" c="dimmed">
              The download continues only while this page is open, and resumes where it stopped.
            </Text>
            <Group justify="flex-end">
              <Button type="submit" loading={pull.isPending}>
                Pull
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}
