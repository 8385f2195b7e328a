import { Code } from "@mantine/core";

/** Text whose parts between backticks are code. */
export function InlineCode({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text do not move
      <Code key={index} fz="inherit">
        {part}
      </Code>
    ) : (
      part
    ),
  );
}
