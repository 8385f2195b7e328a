import { Modal, Text } from "@mantine/core";
import { Suspense, use, useMemo } from "react";
import { Trans } from "../i18n/trans.tsx";
import { t } from "../i18n/translate.ts";
import type { CodeSamples } from "./as-code.tsx";
import { CodeTabs } from "./code-tabs.tsx";

const LABELS: Readonly<Record<keyof CodeSamples, string>> = {
  curl: "curl",
  python: "Python",
  typescript: "TypeScript",
};
const NAMES = ["curl", "python", "typescript"] as const;

interface CodeDialogProps {
  isOpen: boolean;
  samples: () => CodeSamples | Promise<CodeSamples>;
  onClose: () => void;
}

/** A request in three languages. */
export function CodeDialog({ isOpen, samples, onClose }: CodeDialogProps) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the request as it is when the dialog opens
  const code = useMemo(() => (isOpen ? Promise.resolve(samples()) : undefined), [isOpen]);
  return (
    <Modal opened={isOpen} onClose={onClose} title={t("Get code")} size="xl">
      <Text size="sm" c="dimmed" mb="sm">
        <Trans text="Set <code>OPENAI_API_KEY</code> to a project's API key." tags={{ code: <code /> }} />
      </Text>
      <Suspense>{code !== undefined && <Samples code={code} />}</Suspense>
    </Modal>
  );
}

function Samples({ code }: { code: Promise<CodeSamples> }) {
  const samples = use(code);
  return <CodeTabs tabs={NAMES.map((id) => ({ id, name: LABELS[id], code: samples[id] }))} />;
}
