import { ActionIcon, Group, SegmentedControl, Text } from "@mantine/core";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { CopyButton } from "../../../components/copy-button.tsx";
import { parseDelimited } from "../../../components/delimited.ts";
import { type Artifact, type ArtifactKind, hasPreview } from "../../../components/markdown/artifact.ts";
import { HighlightedCode } from "../../../components/markdown/highlighted-code.tsx";
import { saveFile } from "../../../components/save-file.ts";
import { toCsvText } from "../../../components/to-csv.ts";
import { Tooltip } from "../../../components/tooltip.tsx";
import { type Message, msg, t } from "../../../i18n/translate.ts";
import { IconDownload, IconX } from "../../../icons.tsx";
import { ArtifactFrame } from "./artifact-frame.tsx";

const Markdown = lazy(async () => ({ default: (await import("../../../components/markdown/markdown.tsx")).Markdown }));

const TITLES: Readonly<Record<ArtifactKind, Message>> = {
  html: msg("Web page"),
  script: msg("Script"),
  svg: msg("Drawing"),
  markdown: msg("Document"),
  table: msg("Table"),
  code: msg("Code"),
};
const FILES: Readonly<Record<ArtifactKind, [name: string, type: string]>> = {
  html: ["artifact.html", "text/html"],
  script: ["artifact.js", "text/javascript"],
  svg: ["artifact.svg", "image/svg+xml"],
  markdown: ["artifact.md", "text/markdown"],
  table: ["table.csv", "text/csv"],
  code: ["artifact.txt", "text/plain"],
};

interface ArtifactPanelProps {
  artifact: Artifact;
  onClose: () => void;
}

/** An artifact beside the conversation: what it shows, or its code. */
export function ArtifactPanel({ artifact, onClose }: ArtifactPanelProps) {
  const [view, setView] = useState("preview");
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus(), []);
  const { kind, code, language } = artifact;
  const save = () => {
    const [name, type] = FILES[kind];
    saveFile(name, kind === "table" ? toCsvText(parseDelimited(code)) : code, type);
  };
  return (
    <section
      ref={panel}
      tabIndex={-1}
      className="artifact-panel"
      aria-label={t(TITLES[kind])}
      onKeyDown={({ key }) => {
        if (key === "Escape") onClose();
      }}
    >
      <Group justify="space-between" wrap="nowrap" gap="xs" p="xs">
        <Text fw={600} size="sm" truncate>
          {t(TITLES[kind])}
        </Text>
        <Group gap={4} wrap="nowrap">
          {hasPreview(artifact) && (
            <SegmentedControl
              size="xs"
              aria-label={t("View")}
              value={view}
              onChange={setView}
              data={[
                { value: "preview", label: t("Preview") },
                { value: "code", label: t("Code") },
              ]}
            />
          )}
          <CopyButton text={code} label={t("Copy code")} />
          <Tooltip label={t("Download")}>
            <ActionIcon variant="subtle" color="gray" aria-label={t("Download")} onClick={save}>
              <IconDownload size={15} />
            </ActionIcon>
          </Tooltip>
          <Tooltip label={t("Close")}>
            <ActionIcon variant="subtle" color="gray" aria-label={t("Close")} onClick={onClose}>
              <IconX size={15} />
            </ActionIcon>
          </Tooltip>
        </Group>
      </Group>
      <div className="artifact-body">
        {view === "code" || !hasPreview(artifact) ? (
          <HighlightedCode code={code} language={language} />
        ) : (
          <Preview artifact={artifact} />
        )}
      </div>
    </section>
  );
}

function Preview({ artifact }: { artifact: Artifact }) {
  const { kind, code } = artifact;
  if (kind === "svg") {
    // A picture neither runs scripts nor loads anything.
    return (
      <img className="artifact-picture" src={`data:image/svg+xml,${encodeURIComponent(code)}`} alt={t("Drawing")} />
    );
  }
  if (kind === "markdown") {
    return (
      <div className="artifact-document">
        <Suspense>
          <Markdown text={code} />
        </Suspense>
      </div>
    );
  }
  if (kind === "table") return <TablePreview rows={parseDelimited(code)} />;
  return <ArtifactFrame key={code} artifact={artifact} />;
}

function TablePreview({ rows: [head = [], ...rows] }: { rows: string[][] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable by keyboard
    <section className="artifact-document markdown" tabIndex={0} aria-label={t("Table")}>
      <table>
        <thead>
          <tr>
            {head.map((cell, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a cell is at its place
              <th key={column}>{cell}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row is at its place
            <tr key={index}>
              {row.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is at its place
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
