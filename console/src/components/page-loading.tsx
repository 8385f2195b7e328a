import { Card, Group, SimpleGrid, Skeleton, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../i18n/translate.ts";

/**
 * What will be there: a `page` with its title, a `table`, its `rows` within a card, a grid of `cards`, a `form`, an
 * `overview` of numbers and charts, or `lines` within anything.
 */
export type LoadingShape = "page" | "table" | "rows" | "cards" | "form" | "overview" | "lines";

const CONTENTS: Readonly<Record<LoadingShape, () => ReactNode>> = {
  page: () => (
    <>
      <Skeleton height={34} width={220} mt={4} />
      <Skeleton height={14} width={320} />
      <Skeleton height={150} radius="md" />
      <Skeleton height={260} radius="md" />
    </>
  ),
  table: () => (
    <Card padding={0}>
      <Rows />
    </Card>
  ),
  rows: Rows,
  cards: () => (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="sm">
      {numbers(6).map((index) => (
        <Skeleton key={index} height={170} radius="md" />
      ))}
    </SimpleGrid>
  ),
  form: () => (
    <Card>
      <Stack>
        <Skeleton height={14} width={60} />
        <Skeleton height={92} />
        <Group>
          <Skeleton height={36} width={220} />
          <Skeleton height={36} width={110} />
        </Group>
      </Stack>
    </Card>
  ),
  overview: () => (
    <>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm">
        {numbers(5).map((index) => (
          <Skeleton key={index} height={118} radius="md" />
        ))}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm">
        <Skeleton height={280} radius="md" />
        <Skeleton height={280} radius="md" />
      </SimpleGrid>
      <Skeleton height={320} radius="md" />
    </>
  ),
  lines: () => (
    <>
      <Skeleton height={14} width="45%" />
      <Skeleton height={36} />
      <Skeleton height={36} />
      <Skeleton height={14} width="70%" />
    </>
  ),
};

/** Gray shapes in the place of what is loading, so that nothing jumps when it comes. */
export function PageLoading({ shape = "page" }: { shape?: LoadingShape }) {
  const Content = CONTENTS[shape];
  return (
    <Stack role="status" aria-busy="true" aria-label={t("Loading")}>
      <Content />
    </Stack>
  );
}

function Rows() {
  return (
    <Stack gap={0}>
      {numbers(7).map((index) => (
        <Group key={index} justify="space-between" wrap="nowrap" px="md" py={14}>
          <div style={{ flex: "0 0 45%" }}>
            <Skeleton height={14} width={index === 0 ? 90 : `${72 - 8 * (index % 3)}%`} />
          </div>
          <Skeleton height={14} width="12%" />
          <Skeleton height={14} width="9%" />
        </Group>
      ))}
    </Stack>
  );
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_each, index) => index);
}
