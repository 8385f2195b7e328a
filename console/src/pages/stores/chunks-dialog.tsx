import { Modal, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { formatNumber } from "../../components/format.ts";
import { QueryView } from "../../components/query-view.tsx";
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
    <Modal opened onClose={onClose} title={`Chunks of ${name}`} size="lg">
      <QueryView query={query}>
        {({ data, has_more }) => (
          <Stack gap="sm">
            <Text size="xs" c="dimmed">
              {data.length === 0
                ? "There are none yet."
                : `${data.length <= SHOWN ? "" : `The first ${SHOWN} of `}${formatNumber(data.length)}${has_more ? " and more" : ""} chunks`}
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
    </Modal>
  );
}
