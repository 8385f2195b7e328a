import { Button, Card, Group, Progress, SegmentedControl, Stack, Table, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Answers } from "../../api/answers.ts";
import type { ModelEntry } from "../../api/models.ts";
import { request } from "../../api/request.ts";
import { AsCode } from "../../components/as-code.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { ExpectedResult } from "../../components/expected-result.tsx";
import { formatFixed } from "../../components/format.ts";
import { ModelSelect } from "../../components/model-select.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { WithModels } from "../../components/with-models.tsx";
import { msg, t } from "../../i18n/translate.ts";
import { IconVectorTriangle } from "../../icons.tsx";
import { embeddingSamples, rerankSamples } from "./embeddings-code.ts";

export function EmbeddingsPage() {
  return (
    <WithModels
      title={t("Embeddings")}
      description={t("Find the texts closest in meaning, or rank documents by their relevance to a question.")}
      task="embedding"
      icon={<IconVectorTriangle />}
    >
      {(models) => <EmbeddingsForm models={models} />}
    </WithModels>
  );
}

const EXAMPLES = [
  msg("How do I reset my password?"),
  msg("The invoice is in the attachment."),
  msg("Our office is closed on Sunday."),
  msg("The login page shows an error."),
];

function EmbeddingsForm({ models }: { models: ModelEntry[] }) {
  const [{ model, view }, setAddress] = useAddressState({ model: models[0]?.id ?? "", view: "nearest" });
  const isRanking = view === "rerank";
  const [text, setText] = useState(() => t("I cannot sign in"));
  const [list, setList] = useState(() => EXAMPLES.map((line) => t(line)).join("\n"));
  const lines = list.split("\n").filter((line) => line.trim() !== "");
  const compare = useMutation({
    mutationFn: () => (isRanking ? rank(model, text, lines) : nearest(model, text, lines)),
  });
  return (
    <Card>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          compare.mutate();
        }}
      >
        <Stack>
          <SegmentedControl
            size="xs"
            aria-label={t("Comparison")}
            style={{ alignSelf: "start" }}
            value={view}
            onChange={(next) => {
              compare.reset();
              setAddress({ view: next });
            }}
            data={[
              { value: "nearest", label: t("Closest texts") },
              { value: "rerank", label: t("Rerank") },
            ]}
          />
          <TextInput
            label={isRanking ? t("Question") : t("Text")}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Textarea
            label={t("List, one text per line")}
            autosize
            minRows={4}
            maxRows={14}
            value={list}
            onChange={(event) => setList(event.currentTarget.value)}
          />
          <Group align="flex-end">
            <ModelSelect models={models} value={model} onChange={(next) => setAddress({ model: next })} />
            <Button type="submit" loading={compare.isPending} disabled={text.trim() === "" || lines.length === 0}>
              {isRanking ? t("Rank") : t("Compare")}
            </Button>
            <AsCode
              samples={() =>
                isRanking ? rerankSamples(model, text, lines) : embeddingSamples(model, [text, ...lines])
              }
            />
          </Group>
          <ErrorAlert error={compare.error} />
          {compare.data === undefined && (
            <ExpectedResult shape="bars">
              {isRanking
                ? t("The list appears here, the most relevant text first.")
                : t("The list appears here, the closest text first.")}
            </ExpectedResult>
          )}
          {compare.data !== undefined && (
            <Table data-testid="nearest">
              <Table.Tbody>
                {compare.data.map(({ line, similarity }) => (
                  <Table.Tr key={line}>
                    <Table.Td className="wrap-anywhere">{line}</Table.Td>
                    <Table.Td w="30%">
                      <Progress
                        value={Math.max(0, 100 * similarity)}
                        aria-label={
                          isRanking
                            ? t("Relevance of {{text}}", { text: line })
                            : t("Similarity of {{text}}", { text: line })
                        }
                      />
                    </Table.Td>
                    <Table.Td w={80} ta="right" className="tabular">
                      {formatFixed(similarity, 3)}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )}
        </Stack>
      </form>
    </Card>
  );
}

/** Relevance to `query`, as a cross-encoder or the embeddings have it, the most relevant line first. */
async function rank(
  model: string,
  query: string,
  documents: string[],
): Promise<{ line: string; similarity: number }[]> {
  const body = { model, query, documents };
  const { results } = await request<Answers["Ranking"]>("v1/rerank", { method: "POST", body });
  return results.map(({ index, relevance_score: similarity }) => ({ line: documents[index] ?? "", similarity }));
}

/** Cosine similarity to `text`, the nearest line first. */
async function nearest(model: string, text: string, lines: string[]): Promise<{ line: string; similarity: number }[]> {
  const body = { model, input: [text, ...lines], encoding_format: "float" };
  const { data } = await request<{ data: { embedding: number[] }[] }>("v1/embeddings", { method: "POST", body });
  const [first, ...others] = data.map(({ embedding }) => embedding);
  if (first === undefined) return [];
  return lines
    .map((line, index) => ({ line, similarity: cosine(first, others[index] ?? []) }))
    .sort((a, b) => b.similarity - a.similarity);
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b) || 1);
}
