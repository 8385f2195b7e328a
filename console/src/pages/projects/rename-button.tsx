import { Button, Modal } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { NameForm } from "../../components/name-form.tsx";

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
        Rename
      </Button>
      <Modal opened={isOpen} onClose={close} title={title}>
        <NameForm initialName={name} action="Rename" save={save} />
      </Modal>
    </>
  );
}
