import { ActionIcon, Group } from "@mantine/core";
import { useContext, useEffect, useState } from "react";
import { t } from "../../i18n/translate.ts";
import { IconArtboard, IconEye } from "../../icons.tsx";
import { CopyButton } from "../copy-button.tsx";
import { Tooltip } from "../tooltip.tsx";
import { type Artifact, hasPreview, OpenArtifact, toArtifact } from "./artifact.ts";
import type { CodeToken } from "./highlighter.ts";

interface HighlightedCodeProps {
  code: string;
  /** As the fence names it; empty: none. */
  language: string;
}

/** Code that is still generated is colored when it pauses. */
const PAUSE_MS = 120;

/** Code with its language, a button that copies it, and colors once they are there. */
export function HighlightedCode({ code, language }: HighlightedCodeProps) {
  const [colored, setColored] = useState<{ code: string; lines: CodeToken[][] }>();
  useEffect(() => {
    if (language === "") return;
    let isCurrent = true;
    const timer = setTimeout(async () => {
      const { highlight } = await import("./highlighter.ts");
      const lines = await highlight(code, language).catch(() => undefined);
      if (isCurrent && lines !== undefined) setColored({ code, lines });
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [code, language]);
  return (
    <div className="code-frame">
      <div className="code-bar">
        <span>{language}</span>
        <Group gap={2} wrap="nowrap">
          <OpenButton artifact={toArtifact(code, language)} />
          <CopyButton text={code} label={t("Copy code")} />
        </Group>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls must be reachable by keyboard */}
      <pre tabIndex={0} dir="ltr">
        <code>{colored?.code === code ? <Lines lines={colored.lines} /> : code}</code>
      </pre>
    </div>
  );
}

/** Opens code beside the conversation; nothing on pages without a place for it. */
export function OpenButton({ artifact }: { artifact: Artifact }) {
  const open = useContext(OpenArtifact);
  if (open === null) return null;
  const label = hasPreview(artifact) ? t("Show the preview") : t("Open beside");
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={() => open(artifact)}>
        {hasPreview(artifact) ? <IconEye size={15} /> : <IconArtboard size={15} />}
      </ActionIcon>
    </Tooltip>
  );
}

function Lines({ lines }: { lines: readonly CodeToken[][] }) {
  return lines.map((line, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a line is at its place
    <span key={row}>
      {line.map(({ content, color }, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a token is at its place
        <span key={column} style={{ color }}>
          {content}
        </span>
      ))}
      {row < lines.length - 1 && "\n"}
    </span>
  ));
}
