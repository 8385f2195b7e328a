/** Colors of code by Shiki. The grammar of a language is loaded by the first block in it. */

import { createCssVariablesTheme, createHighlighterCore, type HighlighterCore } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";

export interface CodeToken {
  content: string;
  color?: string | undefined;
}

const THEME = createCssVariablesTheme({ name: "console", variablePrefix: "--code-" });

const LANGUAGES = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  cpp: () => import("shiki/langs/cpp.mjs"),
  csharp: () => import("shiki/langs/csharp.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  docker: () => import("shiki/langs/docker.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  kotlin: () => import("shiki/langs/kotlin.mjs"),
  php: () => import("shiki/langs/php.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  ruby: () => import("shiki/langs/ruby.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  swift: () => import("shiki/langs/swift.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
} as const;

type Language = keyof typeof LANGUAGES;

const ALIASES: Readonly<Record<string, Language>> = {
  ...{ "c++": "cpp", "c#": "csharp", cs: "csharp", dockerfile: "docker", golang: "go", js: "javascript" },
  ...{ jsx: "tsx", kt: "kotlin", mjs: "javascript", py: "python", rb: "ruby", rs: "rust", sh: "bash" },
  ...{ shell: "bash", console: "bash", zsh: "bash", ts: "typescript", xml: "html", yml: "yaml" },
};

/** Longer code is shown without colors: its tokens would block the page. */
const MAX_CHARACTERS = 40_000;

let highlighter: Promise<HighlighterCore> | undefined;

/** Resolves with the tokens of each line; undefined for a language without a grammar. */
export async function highlight(code: string, name: string): Promise<CodeToken[][] | undefined> {
  const lower = name.toLowerCase();
  const language = ALIASES[lower] ?? lower;
  if (!Object.hasOwn(LANGUAGES, language) || code.length > MAX_CHARACTERS) return undefined;
  highlighter ??= createHighlighterCore({ themes: [THEME], langs: [], engine: createJavaScriptRegexEngine() });
  const core = await highlighter;
  await core.loadLanguage(LANGUAGES[language as Language]);
  return core.codeToTokensBase(code, { lang: language, theme: "console" });
}
