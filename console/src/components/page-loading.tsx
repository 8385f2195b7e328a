import { Skeleton, Stack } from "@mantine/core";

export function PageLoading() {
  return (
    <Stack role="status" aria-busy="true" aria-label="Loading">
      <Skeleton height={28} width={180} />
      <Skeleton height={120} />
      <Skeleton height={240} />
    </Stack>
  );
}
