import { Button, Card, Group, Progress, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useFileDrop } from "../../components/use-file-drop.ts";
import { t } from "../../i18n/translate.ts";
import { IconUpload } from "../../icons.tsx";
import { filesQuery } from "../files/files-api.ts";
import { addFile, storesQuery } from "./stores-api.ts";

interface Upload {
  key: number;
  name: string;
  share: number;
  error?: string;
}

let lastKey = 0;

/** Takes files by drag and drop, and shows how much of each is sent. */
export function StoreUpload({ store }: { store: string }) {
  const client = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const change = (key: number, part: Partial<Upload>) =>
    setUploads((all) => all.map((each) => (each.key === key ? { ...each, ...part } : each)));
  const add = async (files: readonly File[]) => {
    const added = files.map((file) => {
      lastKey += 1;
      return { file, key: lastKey };
    });
    setUploads((all) => [...all, ...added.map(({ file, key }) => ({ key, name: file.name, share: 0 }))]);
    for (const { file, key } of added) {
      try {
        await addFile(store, file, (share) => change(key, { share }));
        setUploads((all) => all.filter((each) => each.key !== key));
      } catch (failure) {
        change(key, { error: failure instanceof Error ? failure.message : String(failure) });
      }
      // The list of the store has IDs only.
      for (const { queryKey } of [filesQuery, storesQuery]) await client.invalidateQueries({ queryKey });
    }
  };
  const drop = useFileDrop((dropped) => void add(dropped));
  return (
    <Card {...drop}>
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed" flex={1} miw={200}>
          {t("Drop PDF, Office, HTML, Markdown, code or text files here.")}
        </Text>
        <Button variant="default" leftSection={<IconUpload size={16} />} onClick={() => input.current?.click()}>
          {t("Add files")}
        </Button>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label={t("Files to add")}
          onChange={(event) => {
            void add([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
      </Group>
      {uploads.length > 0 && (
        <Stack gap={6} mt="sm">
          {uploads.map(({ key, name, share, error }) => (
            <div key={key}>
              <Group justify="space-between" gap="xs" wrap="nowrap">
                <Text size="xs" className="wrap-anywhere">
                  {name}
                </Text>
                {error !== undefined && (
                  <Button
                    variant="subtle"
                    size="compact-xs"
                    onClick={() => setUploads((all) => all.filter((each) => each.key !== key))}
                  >
                    {t("Dismiss")}
                  </Button>
                )}
              </Group>
              {error === undefined ? (
                <Progress size="sm" value={100 * share} aria-label={t("Upload of {{name}}", { name })} />
              ) : (
                <Text size="xs" role="alert">
                  {error}
                </Text>
              )}
            </div>
          ))}
        </Stack>
      )}
    </Card>
  );
}
