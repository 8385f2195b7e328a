import { Button, Modal } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { NameForm } from "../../components/name-form.tsx";
import { t } from "../../i18n/translate.ts";

interface RenameButtonProps {
  title: string;
  name: string;
  rename: (name: string) => Promise<unknown>;
  onRenamed: () => Promise<unknown>;
}

export function RenameButton({ title, name, rename, onRenamed }: RenameButtonProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const save = async (newName: string) => {
    await rename(newName);
    close();
    await onRenamed();
  };
  return (
    <>
      <Button variant="subtle" size="compact-sm" onClick={open}>
        {t("Rename")}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title}>
        <NameForm initialName={name} action={t("Rename")} save={save} />
      </Modal>
    </>
  );
}
