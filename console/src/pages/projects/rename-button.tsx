import { Button, Group, Modal, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";

interface RenameButtonProps {
  title: string;
  name: string;
  rename: (name: string) => Promise<unknown>;
  onRenamed: () => Promise<unknown>;
}

export function RenameButton({ title, name, rename, onRenamed }: RenameButtonProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const form = useForm({ initialValues: { name } });
  const action = useMutation({
    mutationFn: rename,
    onSuccess: async () => {
      close();
      await onRenamed();
    },
  });
  return (
    <>
      <Button variant="subtle" size="compact-sm" onClick={open}>
        Rename
      </Button>
      <Modal opened={isOpen} onClose={close} title={title}>
        <form onSubmit={form.onSubmit((values) => action.mutate(values.name))}>
          <TextInput
            label="Name"
            data-autofocus
            required
            error={action.error?.message}
            {...form.getInputProps("name")}
          />
          <Group justify="flex-end" mt="lg">
            <Button type="submit" loading={action.isPending}>
              Rename
            </Button>
          </Group>
        </form>
      </Modal>
    </>
  );
}
