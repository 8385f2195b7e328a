import { ActionIcon, Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, Suspense } from "react";
import { t } from "../i18n/translate.ts";
import { IconCode } from "../icons.tsx";
import { Tooltip } from "./tooltip.tsx";

/** Not part of the first load. */
const CodeDialog = lazy(async () => ({ default: (await import("./code-dialog.tsx")).CodeDialog }));

export interface CodeSamples {
  curl: string;
  python: string;
  typescript: string;
}

interface AsCodeProps {
  samples: () => CodeSamples | Promise<CodeSamples>;
  /** Whether the button is a symbol among others. */
  isCompact?: boolean;
}

/** Button that shows the same request as code; `samples` is called when it opens. */
export function AsCode({ samples, isCompact = false }: AsCodeProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      {isCompact ? (
        <Tooltip label={t("Get code")}>
          <ActionIcon variant="default" size={36} aria-label={t("Get code")} onClick={open}>
            <IconCode size={16} />
          </ActionIcon>
        </Tooltip>
      ) : (
        <Button variant="default" leftSection={<IconCode size={15} />} onClick={open}>
          {t("Get code")}
        </Button>
      )}
      {isOpen && (
        <Suspense>
          <CodeDialog samples={samples} onClose={close} />
        </Suspense>
      )}
    </>
  );
}
