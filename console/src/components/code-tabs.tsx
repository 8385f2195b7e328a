import { Tabs, Text } from "@mantine/core";
import { CodeBlock } from "./code-block.tsx";

export interface CodeTab {
  id: string;
  name: string;
  /** File that has the code; left out: it is a command or a program. */
  file?: string;
  code: string;
}

/** The same in several languages or for several programs. */
export function CodeTabs({ tabs }: { tabs: readonly CodeTab[] }) {
  return (
    <Tabs defaultValue={tabs[0]?.id ?? null} keepMounted={false}>
      <Tabs.List>
        {tabs.map(({ id, name }) => (
          <Tabs.Tab key={id} value={id}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ id, file, code }) => (
        <Tabs.Panel key={id} value={id} pt="sm">
          {file !== undefined && (
            <Text size="xs" c="dimmed" ff="monospace" mb={4}>
              {file}
            </Text>
          )}
          <CodeBlock text={code} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
