import "./diagram.css";
import { SegmentedControl, Skeleton, Text, useComputedColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { t } from "../../i18n/translate.ts";
import { CopyButton } from "../copy-button.tsx";
import type { DiagramColors } from "./diagram-worker.ts";
import { HighlightedCode } from "./highlighted-code.tsx";
import { renderDiagram } from "./render-diagram.ts";

interface DiagramProps {
  source: string;
}

const COLORS: Readonly<Record<"light" | "dark", DiagramColors>> = {
  light: {
    ...{ fg: "#1f2328", bg: "#ffffff", line: "#6b7178", muted: "#4b5158" },
    ...{ surface: "#f1f4f3", border: "#9aa5a2" },
  },
  dark: {
    ...{ fg: "#e6e8eb", bg: "#1b1f1e", line: "#98a19e", muted: "#b9c0be" },
    ...{ surface: "#262c2a", border: "#5f6b67" },
  },
};

/**
 * A Mermaid diagram as a picture: the content security policy refuses the inline styles of an SVG in the page, and a
 * picture neither runs scripts nor loads anything.
 */
export function Diagram({ source }: DiagramProps) {
  const scheme = useComputedColorScheme("light");
  const [view, setView] = useState("diagram");
  const { data, error } = useQuery({
    queryKey: ["diagram", source, scheme],
    queryFn: () => renderDiagram({ source, colors: COLORS[scheme] }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (error !== null) {
    return (
      <>
        <HighlightedCode code={source} language="mermaid" />
        <Text size="xs" c="dimmed" role="note">
          {t("Not drawn: {{reason}}", { reason: error.message })}
        </Text>
      </>
    );
  }
  return (
    <figure className="diagram code-frame">
      <div className="code-bar">
        <SegmentedControl
          size="xs"
          aria-label={t("View")}
          value={view}
          onChange={setView}
          data={[
            { value: "diagram", label: t("Diagram") },
            { value: "source", label: t("Source") },
          ]}
        />
        <CopyButton text={source} label={t("Copy source")} />
      </div>
      {view === "source" ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls must be reachable by keyboard
        <pre tabIndex={0} dir="ltr">
          <code>{source}</code>
        </pre>
      ) : data === undefined ? (
        <Skeleton h={160} radius={0} role="status" aria-label={t("Drawing the diagram")} />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a picture that scrolls must be reachable by keyboard
        <div className="diagram-picture" tabIndex={0}>
          <img
            src={`data:image/svg+xml,${encodeURIComponent(data.svg)}`}
            width={Math.ceil(data.width)}
            height={Math.ceil(data.height)}
            alt={t("Diagram: {{labels}}", { labels: data.labels.join(", ") })}
          />
        </div>
      )}
    </figure>
  );
}
