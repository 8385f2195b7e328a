import { Group, NativeSelect, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { Dialog } from "../../components/dialog.tsx";
import { t } from "../../i18n/translate.ts";
import { diffLines } from "./line-diff.ts";
import { toLines } from "./prompt-text.ts";
import type { PromptVersion } from "./prompts-api.ts";

interface CompareVersionsProps {
  versions: readonly PromptVersion[];
  version: number;
  close: () => void;
}

const MARKS = { same: " ", added: "+", removed: "−" } as const;

/** Lines that differ between two versions; the one before at first. */
export function CompareVersions({ versions, version, close }: CompareVersionsProps) {
  const oldest = versions.at(-1)?.version ?? 1;
  const [after, setAfter] = useState(version === oldest ? version + 1 : version);
  const [before, setBefore] = useState(version === oldest ? version : version - 1);
  const linesOf = (number: number) => {
    const content = versions.find((each) => each.version === number)?.content;
    return content === undefined ? [] : toLines(content);
  };
  const lines = diffLines(linesOf(before), linesOf(after));
  const data = versions.map((each) => ({
    value: String(each.version),
    label: t("Version {{version}}", { version: String(each.version) }),
  }));
  return (
    <Dialog onClose={close} title={t("Compare versions")} size="xl">
      <Stack>
        <Group grow>
          <NativeSelect
            label={t("Before")}
            data={data}
            value={String(before)}
            onChange={(event) => setBefore(Number(event.currentTarget.value))}
          />
          <NativeSelect
            label={t("After")}
            data={data}
            value={String(after)}
            onChange={(event) => setAfter(Number(event.currentTarget.value))}
          />
        </Group>
        {lines.every(({ kind }) => kind === "same") && <Text size="sm">{t("Both versions are equal.")}</Text>}
        <section className="code-block diff" aria-label={t("Differences")}>
          {lines.map(({ kind, text }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity
            <div key={index} data-kind={kind}>
              {MARKS[kind]} {text}
            </div>
          ))}
        </section>
      </Stack>
    </Dialog>
  );
}
