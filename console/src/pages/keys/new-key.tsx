import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { t } from "../../i18n/translate.ts";
import { IconPlus } from "../../icons.tsx";
import { ExpiryField } from "./expiry-field.tsx";
import { onceOnly, SecretOnce } from "./secret-once.tsx";

interface NewKeyProps {
  label: string;
  /** Explains what the name is for. */
  description: string;
  /** Creates a key and resolves with the secret. */
  create: (name: string, expiresInSeconds: number | null) => Promise<string>;
  /** Whether the key calls models, for which a line to paste is shown. */
  callsModels: boolean;
  /** Further fields of the form. */
  children?: ReactNode;
}

export function NewKey({ label, description, create, callsModels, children }: NewKeyProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const form = useForm({ initialValues: { name: "" } });
  const [seconds, setSeconds] = useState<number | null | undefined>(null);
  const created = useMutation({
    mutationFn: (name: string) => create(name, seconds ?? null),
  });
  const reset = () => {
    close();
    form.reset();
    setSeconds(null);
    created.reset();
  };
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={reset} title={label} size="lg" {...onceOnly(created.data !== undefined)}>
        {created.data === undefined ? (
          <form onSubmit={form.onSubmit(({ name }) => created.mutate(name))}>
            <Stack>
              <TextInput
                label={t("Name")}
                description={description}
                data-autofocus
                required
                {...form.getInputProps("name")}
                error={created.error?.message}
              />
              <ExpiryField onChange={setSeconds} />
              {children}
              <Group justify="flex-end">
                <Button type="submit" loading={created.isPending} disabled={seconds === undefined}>
                  {t("Create key")}
                </Button>
              </Group>
            </Stack>
          </form>
        ) : (
          <Stack>
            <SecretOnce secret={created.data} callsModels={callsModels} />
            <Group justify="flex-end">
              <Button onClick={reset}>{t("Done")}</Button>
            </Group>
          </Stack>
        )}
      </Modal>
    </>
  );
}
