import { Checkbox, Stack, Text } from "@mantine/core";

export interface ToolListProps {
  label: string;
  description: string;
  options: readonly { value: string; label: string }[];
  value: string[];
  onChange: (value: string[]) => void;
}

/** Chooses stores or servers. */
export function ToolList({ label, description, options, value, onChange }: ToolListProps) {
  return (
    <Stack gap={8} p={4}>
      <Text size="xs" c="dimmed">
        {description}
      </Text>
      <Checkbox.Group aria-label={label} value={value} onChange={onChange}>
        <Stack gap={8}>
          {options.map((option) => (
            <Checkbox key={option.value} size="xs" value={option.value} label={option.label} />
          ))}
        </Stack>
      </Checkbox.Group>
    </Stack>
  );
}
