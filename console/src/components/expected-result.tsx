import { Group, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";

interface ExpectedResultProps {
  shape: "bars" | "tiles";
  /** Says what will be there. */
  children: string;
}

const WIDTHS = [72, 44, 31, 18, 9];

/** The outline of a form's result, until there is one. */
export function ExpectedResult({ shape, children }: ExpectedResultProps) {
  return (
    <Stack gap="sm" pt="xs" className="expected-result">
      <Text size="sm" c="dimmed">
        {children}
      </Text>
      {shape === "tiles" ? (
        <SimpleGrid cols={{ base: 2, sm: 4 }} aria-hidden="true">
          {WIDTHS.slice(0, 4).map((width) => (
            <Skeleton key={width} animate={false} radius="md" style={{ aspectRatio: "1" }} />
          ))}
        </SimpleGrid>
      ) : (
        <Stack gap={14} aria-hidden="true">
          {WIDTHS.map((width) => (
            <Group key={width} wrap="nowrap">
              <Skeleton animate={false} height={12} width="24%" />
              <Skeleton animate={false} height={8} width={`${width}%`} />
            </Group>
          ))}
        </Stack>
      )}
    </Stack>
  );
}
