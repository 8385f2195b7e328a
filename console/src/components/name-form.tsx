import { Button, Group, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { t } from "../i18n/translate.ts";

interface NameFormProps {
  initialName?: string;
  action: string;
  save: (name: string) => Promise<unknown>;
}

/** Asks for a name. `save` closes the dialog; its failure is shown at the field. */
export function NameForm({ initialName = "", action, save }: NameFormProps) {
  const form = useForm({ initialValues: { name: initialName } });
  const saving = useMutation({ mutationFn: save });
  return (
    <form onSubmit={form.onSubmit(({ name }) => saving.mutate(name))}>
      <TextInput
        label={t("Name")}
        data-autofocus
        required
        {...form.getInputProps("name")}
        error={saving.error?.message}
      />
      <Group justify="flex-end" mt="lg">
        <Button type="submit" loading={saving.isPending}>
          {action}
        </Button>
      </Group>
    </form>
  );
}
