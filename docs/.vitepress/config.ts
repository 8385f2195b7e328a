/** The documentation site: `npm run docs` builds it and fails on dead links. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitepress";

const root = join(import.meta.dirname, "..");

export default defineConfig({
  title: "Parlance",
  description: "Self-hosted inference service with an OpenAI-compatible API",
  // Where the service serves it.
  base: "/docs/",
  cleanUrls: true,
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/docs/icon.svg" }]],
  outDir: "../dist-docs",
  // Relative links to files of the repository, such as LICENSE, have no page on the site.
  ignoreDeadLinks: [
    /^(\.\.?\/)+(README|ARCHITECTURE|CONTRIBUTING|CHANGELOG|LICENSE|assets|bench|deploy|packages|parlance|src|test)/,
  ],
  // The default themes have less contrast than WCAG AA asks for.
  markdown: { theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" } },
  themeConfig: {
    logo: "/icon.svg",
    outline: { level: [2, 3] },
    search: {
      provider: "local",
      options: {
        // Decisions explain how it came to be, and would hide what somebody searches for.
        _render: (source, environment, markdown) =>
          environment.relativePath.startsWith("decisions/") ? "" : markdown.render(source, environment),
      },
    },
    nav: [
      ...["tutorial", "how-to", "reference", "explanation"].map((folder) => ({
        text: titleOf(folder),
        link: `/${folder}/${pages(folder)[0]}`,
        activeMatch: `/${folder}/`,
      })),
      { text: "Decisions", link: `/decisions/${pages("decisions")[0]}`, activeMatch: "/decisions/" },
      // The site lies below the console.
      { text: "Console", link: "/../", target: "_self" },
    ],
    // Two lists, since each page repeats its own: one of everything would be two thirds of the site.
    sidebar: {
      "/": ["tutorial", "how-to", "reference", "explanation"].map(section),
      "/decisions/": [section("decisions")],
    },
  },
});

function section(folder: string) {
  const items = pages(folder).map((page) => ({ text: headingOf(folder, page), link: `/${folder}/${page}` }));
  return { text: titleOf(folder), items };
}

function pages(folder: string): string[] {
  return readdirSync(join(root, folder))
    .filter((file) => file.endsWith(".md"))
    .map((file) => file.slice(0, -3))
    .sort();
}

function headingOf(folder: string, page: string): string {
  const text = readFileSync(join(root, folder, `${page}.md`), "utf8");
  return /^# (.+)$/m.exec(text)?.[1] ?? titleOf(page);
}

function titleOf(name: string): string {
  const words = name.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
