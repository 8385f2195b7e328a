import { t } from "../i18n/translate.ts";
import { CopyButton } from "./copy-button.tsx";

interface CodeBlockProps {
  text: string;
  /** Name of the button that copies. */
  label?: string;
  /** Whether long lines wrap and many lines scroll within the block, as for data of any length. */
  wraps?: boolean;
}

/** Code that scrolls, with a button that copies it. */
export function CodeBlock({ text, label, wraps = false }: CodeBlockProps) {
  return (
    <div className="copied-block">
      <div className="copied-block-button">
        <CopyButton text={text} label={label ?? t("Copy code")} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls must be reachable by keyboard */}
      <pre className={wraps ? "code-block json-block" : "code-block"} tabIndex={0} dir="ltr">
        {text}
      </pre>
    </div>
  );
}
