import { ActionIcon } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, Suspense } from "react";
import { Tooltip } from "../../../components/tooltip.tsx";
import { t } from "../../../i18n/translate.ts";
import { IconShare } from "../../../icons.tsx";

/** Not part of the first load. */
const ShareDialog = lazy(async () => ({ default: (await import("./share-dialog.tsx")).ShareDialog }));

/** Button that shares a copy of a conversation with the members of the project. */
export function ShareButton({ id }: { id: string }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Tooltip label={t("Share")}>
        <ActionIcon variant="default" size={36} aria-label={t("Share")} onClick={open}>
          <IconShare size={16} />
        </ActionIcon>
      </Tooltip>
      {isOpen && (
        <Suspense>
          <ShareDialog id={id} onClose={close} />
        </Suspense>
      )}
    </>
  );
}
