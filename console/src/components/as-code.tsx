import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, Suspense, useState } from "react";
import { t } from "../i18n/translate.ts";
import { IconCode } from "../icons.tsx";

/** Not part of the first load. */
const CodeDialog = lazy(async () => ({ default: (await import("./code-dialog.tsx")).CodeDialog }));

export interface CodeSamples {
  curl: string;
  python: string;
  typescript: string;
}

/** Button that shows the same request as code; `samples` is called when it opens. */
export function AsCode({ samples }: { samples: () => CodeSamples | Promise<CodeSamples> }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [wasOpen, setWasOpen] = useState(false);
  if (isOpen && !wasOpen) setWasOpen(true);
  return (
    <>
      <Button variant="default" leftSection={<IconCode size={15} />} onClick={open}>
        {t("Get code")}
      </Button>
      {wasOpen && (
        <Suspense>
          <CodeDialog isOpen={isOpen} samples={samples} onClose={close} />
        </Suspense>
      )}
    </>
  );
}
