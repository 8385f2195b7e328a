const VOWELS: Readonly<Record<string, string>> = { a: "á", e: "é", i: "í", o: "ó", u: "ú", y: "ý" };
const SKIPPED = /(<[^>]*>|\{\{[^}]*\}\})/u;

/** The text with accents and a third longer; tags and placeholders stay. */
export function toPseudo(text: string): string {
  const accented = text
    .split(SKIPPED)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/[aeiouy]/gu, (letter) => VOWELS[letter] ?? letter)))
    .join("");
  return `${accented}${"~".repeat(Math.ceil(text.length / 3))}`;
}
