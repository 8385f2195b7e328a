/** Removes control characters but line breaks and tabs: what a server or a model wrote must not command the terminal. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, "");
}
