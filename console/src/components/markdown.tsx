// Not part of the first load.
import "@fontsource-variable/geist-mono/wght.css";
import { Anchor } from "@mantine/core";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { CopyButton } from "./copy-button.tsx";

/** Links open elsewhere without a referrer. Images are links: loading them would let an answer call another host. */
const COMPONENTS: Components = {
  a: ({ href, children }) => (
    <Anchor href={href ?? ""} target="_blank" rel="noopener noreferrer nofollow" inherit underline="always">
      {children}
    </Anchor>
  ),
  img: ({ src, alt }) => (
    <Anchor href={String(src ?? "")} target="_blank" rel="noopener noreferrer nofollow" inherit underline="always">
      {alt || "image"}
    </Anchor>
  ),
  pre: ({ children, node }) => (
    <div style={{ position: "relative" }}>
      <div style={{ position: "absolute", top: 6, right: 6 }}>
        <CopyButton text={textOf(node)} label="Copy code" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>{children}</pre>
    </div>
  ),
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable by keyboard
    <table tabIndex={0}>{children}</table>
  ),
};

interface TreeNode {
  value?: string;
  children?: readonly unknown[];
}

function textOf(node: unknown): string {
  const { value, children = [] } = (node ?? {}) as TreeNode;
  return value ?? children.map(textOf).join("");
}

const PLUGINS = [remarkGfm];

/** Renders Markdown of a model. Raw HTML is shown as text, and only http, https and mail links stay links. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown">
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  );
}
