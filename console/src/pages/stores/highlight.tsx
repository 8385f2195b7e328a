import { Mark } from "@mantine/core";
import { splitByWords } from "./split-by-words.ts";

/** A text with the words of a query marked. */
export function Highlight({ text, query }: { text: string; query: string }) {
  return splitByWords(text, query).map(({ start, text: part, isMatch }) =>
    isMatch ? <Mark key={start}>{part}</Mark> : <span key={start}>{part}</span>,
  );
}
