import { Collapse, Group, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { t } from "../../../i18n/translate.ts";
import { IconBulb, IconChevronDown, IconChevronRight } from "../../../icons.tsx";

/** What a model thought before its answer, closed at first. */
export function Reasoning({ text, isRunning }: { text: string; isRunning: boolean }) {
  const [isOpen, { toggle }] = useDisclosure(false);
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <div>
      <UnstyledButton onClick={toggle} aria-expanded={isOpen}>
        <Group gap={4} c="dimmed">
          <IconBulb size={15} />
          <Text size="sm">{isRunning ? t("Reasoning…") : t("Reasoning")}</Text>
          <Chevron size={14} />
        </Group>
      </UnstyledButton>
      <Collapse expanded={isOpen}>
        <Text size="sm" c="dimmed" pl="md" mt={4} dir="auto" style={{ whiteSpace: "pre-wrap" }}>
          {text}
        </Text>
      </Collapse>
    </div>
  );
}
