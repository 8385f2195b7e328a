import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useSession } from "../../api/session.ts";
import { t } from "../../i18n/translate.ts";
import { IconDownload } from "../../icons.tsx";
import { libraryQuery, startPull } from "./library-query.ts";

/** Downloads a model by its ID, for administrators of the installation. */
export function PullModel() {
  const session = useSession();
  const client = useQueryClient();
  const [isOpen, { open, close }] = useDisclosure(false);
  const navigate = useNavigate();
  const form = useForm({ initialValues: { id: "" } });
  const pull = useMutation({
    mutationFn: startPull,
    onSuccess: async (_pull, id) => {
      close();
      form.reset();
      await client.invalidateQueries({ queryKey: libraryQuery.queryKey });
      await navigate({ to: "/models", search: { view: "library", search: id } as never });
    },
  });
  if (!session.is_admin || !session.organization.is_default) return null;
  return (
    <>
      <Button variant="default" leftSection={<IconDownload size={16} />} onClick={open}>
        {t("Pull a model")}
      </Button>
      <Modal opened={isOpen} onClose={close} title={t("Pull a model")}>
        <form onSubmit={form.onSubmit(({ id }) => pull.mutate(id.trim()))}>
          <Stack>
            <TextInput
              label={t("Model ID")}
              description={t(
                "A built-in model, or a GGUF file as hf:owner/repo/file.gguf. `parlance models list --all` lists the built-in ones.",
              )}
              data-autofocus
              required
              {...form.getInputProps("id")}
              error={pull.error?.message}
            />
            <Text size="sm" c="dimmed">
              {t("The download goes on when this page is closed; the library shows its progress.")}
            </Text>
            <Group justify="flex-end">
              <Button type="submit" loading={pull.isPending}>
                {t("Pull")}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}
