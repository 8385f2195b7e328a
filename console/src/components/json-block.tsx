import { CodeBlock } from "./code-block.tsx";

/** A text, which is indented if it is JSON, with a button that copies it. */
export function JsonBlock({ text, label }: { text: string; label: string }) {
  return <CodeBlock text={indentJson(text)} label={label} wraps />;
}

/** Returns any other text as it is. */
function indentJson(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
