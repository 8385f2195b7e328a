import { ActionIcon, CopyButton as Copy, Tooltip } from "@mantine/core";
import { t } from "../i18n/translate.ts";
import { IconCheck, IconCopy } from "../icons.tsx";

interface CopyButtonProps {
  text: string;
  label?: string;
}

export function CopyButton({ text, label = t("Copy") }: CopyButtonProps) {
  return (
    <Copy value={text} timeout={1500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? t("Copied") : label}>
          <ActionIcon variant="subtle" color={copied ? "teal" : "gray"} onClick={copy} aria-label={label}>
            {copied ? <IconCheck size={15} /> : <IconCopy size={15} />}
          </ActionIcon>
        </Tooltip>
      )}
    </Copy>
  );
}
