import { CopyButton } from "./copy-button.tsx";

/** A text, which is indented if it is JSON, with a button that copies it. */
export function JsonBlock({ text, label }: { text: string; label: string }) {
  const shown = indentJson(text);
  return (
    <div style={{ position: "relative" }}>
      <div style={{ position: "absolute", top: 6, right: 12 }}>
        <CopyButton text={shown} label={label} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls must be reachable by keyboard */}
      <pre className="code-block json-block" tabIndex={0}>
        {shown}
      </pre>
    </div>
  );
}

/** Returns any other text as it is. */
export function indentJson(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
