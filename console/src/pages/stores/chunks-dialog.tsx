import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Dialog } from "../../components/dialog.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { plural, t } from "../../i18n/translate.ts";
import { readChunks } from "./stores-api.ts";

/** A browser takes seconds for thousands of texts. */
const SHOWN = 200;

interface ChunksDialogProps {
  store: string;
  file: string;
  name: string;
  onClose: () => void;
}

/** Texts into which a file was cut. */
export function ChunksDialog({ store, file, name, onClose }: ChunksDialogProps) {
  const query = useQuery({
    queryKey: ["vector-stores", store, "files", file, "content"],
    queryFn: ({ signal }) => readChunks(store, file, signal),
  });
  return (
    <Dialog onClose={onClose} title={t("Chunks of {{name}}", { name })} size="lg">
      <QueryView query={query}>
        {({ data, has_more }) => (
          <Stack gap="sm">
            <Text size="xs" c="dimmed">
              {countText(data.length, has_more)}
            </Text>
            {data.slice(0, SHOWN).map(({ text }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: chunks have no other name than their place
              <Text key={index} size="sm" className="chunk">
                {text}
              </Text>
            ))}
          </Stack>
        )}
      </QueryView>
    </Dialog>
  );
}

function countText(count: number, hasMore: boolean): string {
  if (count === 0) return t("There are none yet.");
  if (hasMore) return t("The first {{shown}} of more than {{number}} chunks", { shown: SHOWN, number: count });
  if (count <= SHOWN) return plural(count, "{{count}} chunk", "{{count}} chunks");
  return t("The first {{shown}} of {{number}} chunks", { shown: SHOWN, number: count });
}
