import { Badge, Button, Card, Group, Progress, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { formatFixed } from "../../components/format.ts";
import { useAction } from "../../components/use-action.ts";
import { t } from "../../i18n/translate.ts";
import { IconSearch } from "../../icons.tsx";
import { Highlight } from "./highlight.tsx";
import { type SearchResults, searchStore } from "./stores-api.ts";

const MAX_RESULTS = 10;

/** Search box of a store, with the chunks that a model would read. */
export function StoreSearch({ store }: { store: string }) {
  const [text, setText] = useState("");
  const search = useAction((query: string) => searchStore(store, query, MAX_RESULTS));
  return (
    <Card>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") search.mutate(text.trim());
        }}
      >
        <Group wrap="nowrap" gap="xs">
          <TextInput
            flex={1}
            aria-label={t("Search the store")}
            placeholder={t("Ask or search: what a model would find")}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Button type="submit" leftSection={<IconSearch size={16} />} loading={search.isPending}>
            {t("Search")}
          </Button>
        </Group>
      </form>
      <ErrorAlert error={search.error} />
      {search.data !== undefined && <Results results={search.data} query={search.variables ?? ""} />}
    </Card>
  );
}

function Results({ results, query }: { results: SearchResults; query: string }) {
  if (results.data.length === 0) {
    return (
      <Text size="sm" mt="md" c="dimmed" role="status">
        {t("No chunk matches.")}
      </Text>
    );
  }
  return (
    <Stack gap="md" mt="md" component="ol" p={0} m={0} className="results">
      {results.data.map(({ file_id, filename, score, attributes, content }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: several chunks of one file may match
        <li key={`${file_id} ${index}`}>
          <Group gap="xs" mb={4}>
            <Text size="sm" fw={600} className="wrap-anywhere">
              {filename}
            </Text>
            <Progress
              w={80}
              size="sm"
              value={100 * score}
              aria-label={t("Score of result {{number}}", { number: index + 1 })}
            />
            <Text size="xs" c="dimmed" className="tabular">
              {formatFixed(score, 3)}
            </Text>
            {Object.entries(attributes ?? {}).map(([name, value]) => (
              <Badge key={name} variant="light" tt="none">
                {name}: {String(value)}
              </Badge>
            ))}
          </Group>
          <Text size="sm" className="chunk" component="div">
            <Highlight text={content.map((part) => part.text).join("\n")} query={query} />
          </Text>
        </li>
      ))}
    </Stack>
  );
}
