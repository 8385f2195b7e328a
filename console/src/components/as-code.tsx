import { Button, Modal, Tabs, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Trans } from "../i18n/trans.tsx";
import { t } from "../i18n/translate.ts";
import { IconCode } from "../icons.tsx";
import { CodeBlock } from "./code-block.tsx";

export interface CodeSamples {
  curl: string;
  python: string;
  typescript: string;
}

const LABELS: Readonly<Record<keyof CodeSamples, string>> = {
  curl: "curl",
  python: "Python",
  typescript: "TypeScript",
};
const NAMES = ["curl", "python", "typescript"] as const;

/** Button that shows the same request as code; `samples` is called when it opens. */
export function AsCode({ samples }: { samples: () => CodeSamples }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" leftSection={<IconCode size={15} />} onClick={open}>
        {t("Get code")}
      </Button>
      <Modal opened={isOpen} onClose={close} title={t("Get code")} size="xl">
        <Text size="sm" c="dimmed" mb="sm">
          <Trans text="Set <code>OPENAI_API_KEY</code> to a project's API key." tags={{ code: <code /> }} />
        </Text>
        {isOpen && <Samples samples={samples()} />}
      </Modal>
    </>
  );
}

function Samples({ samples }: { samples: CodeSamples }) {
  return (
    <Tabs defaultValue="curl">
      <Tabs.List>
        {NAMES.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {LABELS[name]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {NAMES.map((name) => (
        <Tabs.Panel key={name} value={name} pt="sm">
          <CodeBlock text={samples[name]} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
