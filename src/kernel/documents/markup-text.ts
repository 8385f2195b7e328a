/** Text of HTML pages, with one line per block. */

import { Parser } from "htmlparser2";
import { Nesting } from "./nesting.ts";

const HIDDEN: ReadonlySet<string> = new Set(["script", "style", "noscript", "template", "svg", "head", "iframe"]);
const PARAGRAPHS: ReadonlySet<string> = new Set([
  ..."address article aside blockquote details dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header".split(" "),
  ..."hr main nav ol p pre section table ul".split(" "),
]);
const LINES: ReadonlySet<string> = new Set("br caption dd div dt figcaption li option summary tr".split(" "));
const CELLS: ReadonlySet<string> = new Set(["td", "th"]);

/** Returns the title, headings and visible text. */
export function textOfHtml(html: string): string {
  const parts: string[] = [];
  let hidden = 0;
  let preformatted = 0;
  let isTitle = false;
  const nesting = new Nesting();
  const parser = new Parser({
    onopentag(name) {
      nesting.open();
      if (name === "title" && hidden <= 1) isTitle = true;
      if (HIDDEN.has(name)) hidden += 1;
      if (name === "pre") preformatted += 1;
      if (PARAGRAPHS.has(name)) parts.push("\n\n");
      else if (LINES.has(name)) parts.push("\n");
      const [, level] = /^h([1-6])$/.exec(name) ?? [];
      if (level !== undefined && hidden === 0) parts.push("#".repeat(Number(level)), " ");
    },
    ontext(text) {
      if (isTitle) parts.push(text.trim(), "\n\n");
      else if (hidden === 0) parts.push(preformatted > 0 ? text : text.replace(/\s+/g, " "));
    },
    onclosetag(name) {
      nesting.close();
      if (name === "title") isTitle = false;
      if (HIDDEN.has(name)) hidden -= 1;
      if (name === "pre") preformatted -= 1;
      if (PARAGRAPHS.has(name)) parts.push("\n\n");
      else if (LINES.has(name)) parts.push("\n");
      else if (CELLS.has(name)) parts.push("\t");
    },
  });
  parser.end(html);
  return parts.join("");
}
