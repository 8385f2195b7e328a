import { ActionIcon } from "@mantine/core";
import { useEffect, useState } from "react";
import { t } from "../i18n/translate.ts";
import { IconCheck, IconCopy } from "../icons.tsx";
import { copyText } from "./copy-text.ts";
import { notifyFailure } from "./notify.tsx";
import { Tooltip } from "./tooltip.tsx";

interface CopyButtonProps {
  text: string;
  label?: string;
}

const SHOWN_MS = 1500;

export function CopyButton({ text, label = t("Copy") }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => copyText(text).then(() => setIsCopied(true), notifyFailure);
  return (
    <Tooltip label={isCopied ? t("Copied") : label}>
      <ActionIcon variant="subtle" color={isCopied ? "teal" : "gray"} onClick={copy} aria-label={label}>
        {isCopied ? <IconCheck size={15} /> : <IconCopy size={15} />}
      </ActionIcon>
    </Tooltip>
  );
}
