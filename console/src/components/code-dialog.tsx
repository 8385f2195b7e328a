import { Text } from "@mantine/core";
import { Suspense, use, useMemo } from "react";
import { Trans } from "../i18n/trans.tsx";
import { t } from "../i18n/translate.ts";
import type { CodeSamples } from "./as-code.tsx";
import { CodeTabs } from "./code-tabs.tsx";
import { Dialog } from "./dialog.tsx";

const LABELS: Readonly<Record<keyof CodeSamples, string>> = {
  curl: "curl",
  python: "Python",
  typescript: "TypeScript",
};
const NAMES = ["curl", "python", "typescript"] as const;

interface CodeDialogProps {
  samples: () => CodeSamples | Promise<CodeSamples>;
  onClose: () => void;
}

/** A request in three languages. */
export function CodeDialog({ samples, onClose }: CodeDialogProps) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the request as it is when the dialog opens
  const code = useMemo(() => Promise.resolve(samples()), []);
  return (
    <Dialog onClose={onClose} title={t("Get code")} size="xl">
      <Text size="sm" c="dimmed" mb="sm">
        <Trans text="Set <code>OPENAI_API_KEY</code> to a project's API key." tags={{ code: <code /> }} />
      </Text>
      <Suspense>
        <Samples code={code} />
      </Suspense>
    </Dialog>
  );
}

function Samples({ code }: { code: Promise<CodeSamples> }) {
  const samples = use(code);
  return <CodeTabs tabs={NAMES.map((id) => ({ id, name: LABELS[id], code: samples[id] }))} />;
}
