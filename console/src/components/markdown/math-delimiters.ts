/** Formulas in the Markdown of models, which delimit them in four ways. */

/** Code, in which nothing is a formula: fenced blocks, also one that is not closed yet, and spans. */
const CODE = /(^|\n)(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:\n\2[^\n]*(?=\n|$)|$)|(`+)(?!`)[\s\S]*?[^`]\3(?!`)/g;
const DISPLAY = /\\\[([\s\S]+?)\\\]/g;
const INLINE = /\\\(([\s\S]+?)\\\)/g;
/** As in Pandoc: no space inside, and no digit after it, so that `$5 and $10` are prices. */
const DOLLARS = /(?<![\\$\w])\$(?![\s$])((?:[^$\n\\]|\\.)*?[^\s$\\]|[^\s$\\])\$(?![\d$])/g;

/** A formula alone on its line is set apart, as between lines of `$$`. */
const LINE = /(^|\n)[ \t]*\$\$([^\n$]+)\$\$[ \t]*(?=\n|$)/g;

export function hasMath(text: string): boolean {
  return /\$|\\\(|\\\[/.test(text) && withMathDelimiters(text).includes("$$");
}

/** Writes every formula between `$$`, which is the only delimiter that stands for nothing else. */
export function withMathDelimiters(text: string): string {
  const parts: string[] = [];
  let end = 0;
  for (const match of text.matchAll(CODE)) {
    parts.push(convert(text.slice(end, match.index)), match[0]);
    end = match.index + match[0].length;
  }
  parts.push(convert(text.slice(end)));
  return parts.join("");
}

function convert(text: string): string {
  return text
    .replace(DISPLAY, (_match, formula: string) => `\n$$\n${formula.trim()}\n$$\n`)
    .replace(INLINE, (_match, formula: string) => `$$${formula.trim()}$$`)
    .replace(DOLLARS, (_match, formula: string) => `$$${formula}$$`)
    .replace(LINE, (_match, start: string, formula: string) => `${start}$$\n${formula}\n$$`);
}
