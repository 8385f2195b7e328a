// Not part of the first load.
import { t } from "../../i18n/translate.ts";
import "@fontsource-variable/geist-mono/wght.css";
import { Anchor } from "@mantine/core";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import ReactMarkdown, { type Components, type Options } from "react-markdown";
import remarkGfm from "remark-gfm";
import { toDelimited } from "../delimited.ts";
import { HighlightedCode, OpenButton } from "./highlighted-code.tsx";
import { hasMath, withMathDelimiters } from "./math-delimiters.ts";

const Diagram = lazy(async () => ({ default: (await import("./diagram.tsx")).Diagram }));
const Formula = lazy(async () => ({ default: (await import("./formula.tsx")).Formula }));

type RemarkPlugins = NonNullable<Options["remarkPlugins"]>;

const PLUGINS: RemarkPlugins = [remarkGfm];

interface MarkdownProps {
  text: string;
  /** Whether more of it follows; diagrams are drawn when they are complete. */
  isRunning?: boolean;
}

/** Links open elsewhere without a referrer. Images are links: loading them would let an answer call another host. */
function componentsOf(isRunning: boolean): Components {
  return {
    a: ({ href, children }) => (
      <Anchor href={href ?? ""} target="_blank" rel="noopener noreferrer nofollow" inherit underline="always">
        {children}
      </Anchor>
    ),
    img: ({ src, alt }) => (
      <Anchor href={String(src ?? "")} target="_blank" rel="noopener noreferrer nofollow" inherit underline="always">
        {alt || t("image")}
      </Anchor>
    ),
    pre: ({ node }) => {
      const [block] = (node?.children ?? []) as TreeNode[];
      const code = textOf(block).replace(/\n$/, "");
      if (namesOf(block).includes("math-display")) return <MathText formula={code} isDisplay />;
      const [, language = ""] = /(?:^| )language-(\S+)/.exec(namesOf(block)) ?? [];
      const codeBlock = <HighlightedCode code={code} language={language} />;
      if (language !== "mermaid" || isRunning) return codeBlock;
      return (
        <Suspense fallback={codeBlock}>
          <Diagram source={code} />
        </Suspense>
      );
    },
    code: ({ node, children }) =>
      namesOf(node as TreeNode).includes("math-inline") ? (
        <MathText formula={textOf(node)} isDisplay={false} />
      ) : (
        <code>{children}</code>
      ),
    table: ({ node, children }) => (
      <div className="table-block">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable by keyboard */}
        <section className="table-frame" tabIndex={0} aria-label={t("Table")}>
          <table>{children}</table>
        </section>
        {!isRunning && <OpenButton artifact={{ kind: "table", code: toDelimited(rowsOf(node)), language: "csv" }} />}
      </div>
    ),
    p: ({ children }) => <p dir="auto">{children}</p>,
    li: ({ children }) => <li dir="auto">{children}</li>,
  };
}

const COMPONENTS = componentsOf(false);
const RUNNING_COMPONENTS = componentsOf(true);

interface TreeNode {
  tagName?: string;
  value?: string;
  children?: readonly unknown[];
  properties?: { className?: unknown };
}

function textOf(node: unknown): string {
  const { value, children = [] } = (node ?? {}) as TreeNode;
  return value ?? children.map(textOf).join("");
}

/** Texts of the cells of a table. */
function rowsOf(node: unknown): string[][] {
  const { tagName, children = [] } = (node ?? {}) as TreeNode;
  if (tagName !== "tr") return children.flatMap(rowsOf);
  return [children.flatMap((cell) => ((cell as TreeNode).tagName === undefined ? [] : [textOf(cell).trim()]))];
}

function namesOf(node: TreeNode | undefined): string {
  const names = node?.properties?.className;
  return Array.isArray(names) ? names.join(" ") : "";
}

function MathText({ formula, isDisplay }: { formula: string; isDisplay: boolean }) {
  return (
    <Suspense fallback={<code>{formula}</code>}>
      <Formula formula={formula} isDisplay={isDisplay} />
    </Suspense>
  );
}

/** Whether KaTeX is needed: its code and that of `remark-math` are loaded by the first formula. */
function useMath(text: string): RemarkPlugins | undefined {
  const isNeeded = useMemo(() => hasMath(text), [text]);
  const [plugins, setPlugins] = useState<RemarkPlugins>();
  useEffect(() => {
    if (!isNeeded || plugins !== undefined) return;
    // Only `$$` delimits formulas: see `withMathDelimiters`.
    void import("remark-math").then(({ default: math }) =>
      setPlugins([remarkGfm, [math, { singleDollarTextMath: false }]]),
    );
  }, [isNeeded, plugins]);
  return isNeeded ? plugins : undefined;
}

/** Renders Markdown of a model. Raw HTML is shown as text, and only http, https and mail links stay links. */
export function Markdown({ text, isRunning = false }: MarkdownProps) {
  const math = useMath(text);
  return (
    <div className="markdown">
      <ReactMarkdown remarkPlugins={math ?? PLUGINS} components={isRunning ? RUNNING_COMPONENTS : COMPONENTS}>
        {math === undefined ? text : withMathDelimiters(text)}
      </ReactMarkdown>
    </div>
  );
}
