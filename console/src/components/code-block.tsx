import { Group } from "@mantine/core";
import { t } from "../i18n/translate.ts";
import { CopyButton } from "./copy-button.tsx";

/** Code that scrolls, with a button that copies it. */
export function CodeBlock({ text, label }: { text: string; label?: string }) {
  return (
    <div style={{ position: "relative" }}>
      <Group style={{ position: "absolute", top: 6, right: 6 }}>
        <CopyButton text={text} label={label ?? t("Copy code")} />
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls must be reachable by keyboard */}
      <pre className="code-block" tabIndex={0}>
        {text}
      </pre>
    </div>
  );
}
