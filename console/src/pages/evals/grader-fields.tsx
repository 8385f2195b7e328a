import {
  ActionIcon,
  Card,
  Group,
  NativeSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Textarea,
  TextInput,
} from "@mantine/core";
import { msg, t } from "../../i18n/translate.ts";
import { IconTrash } from "../../icons.tsx";
import { GRADER_TYPES, type GraderDraft, type GraderType } from "./grader-draft.ts";

const OPERATIONS = [
  { value: "ilike", label: msg("contains, in any case") },
  { value: "like", label: msg("contains") },
  { value: "eq", label: msg("is equal to") },
  { value: "ne", label: msg("differs from") },
];
const METRICS = ["fuzzy_match", "bleu", "gleu", "meteor", "rouge_1", "rouge_2", "rouge_l"];

interface GraderFieldsProps {
  grader: GraderDraft;
  models: readonly string[];
  onChange: (grader: GraderDraft) => void;
  /** Undefined: the only one. */
  remove: (() => void) | undefined;
}

/** Fields of one grader, by its type. */
export function GraderFields({ grader, models, onChange, remove }: GraderFieldsProps) {
  const { type, name } = grader;
  const set = (change: Partial<GraderDraft>) => onChange({ ...grader, ...change });
  const asksModel = type === "score_model" || type === "label_model";
  return (
    <Card padding="sm">
      <Group align="flex-end" wrap="nowrap" mb="xs">
        <NativeSelect
          flex={1}
          label={t("Grader")}
          data={GRADER_TYPES.map(({ value, label }) => ({ value, label: t(label) }))}
          value={type}
          onChange={(event) => set({ type: event.currentTarget.value as GraderType })}
        />
        <TextInput
          flex={1}
          label={t("Grader's name")}
          required
          value={name}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        {remove !== undefined && (
          <ActionIcon variant="subtle" color="gray" mb={4} aria-label={t("Remove {{name}}", { name })} onClick={remove}>
            <IconTrash size={16} />
          </ActionIcon>
        )}
      </Group>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
        {type === "string_check" && (
          <NativeSelect
            label={t("The answer")}
            data={OPERATIONS.map(({ value, label }) => ({ value, label: t(label) }))}
            value={grader.operation}
            onChange={(event) => set({ operation: event.currentTarget.value })}
          />
        )}
        {type === "text_similarity" && (
          <NativeSelect
            label={t("Metric")}
            data={METRICS}
            value={grader.metric}
            onChange={(event) => set({ metric: event.currentTarget.value })}
          />
        )}
        {!asksModel && (
          <TextInput
            label={t("Reference")}
            required
            value={grader.reference}
            onChange={(event) => set({ reference: event.currentTarget.value })}
          />
        )}
        {asksModel && (
          <Select
            label={t("Model that grades")}
            required
            searchable
            data={models}
            value={grader.model}
            onChange={(model) => set({ model })}
          />
        )}
        {(type === "text_similarity" || type === "score_model") && (
          <NumberInput
            label={t("Passes from")}
            min={0}
            max={1}
            step={0.1}
            value={grader.threshold}
            onChange={(threshold) => set({ threshold })}
          />
        )}
        {type === "label_model" && (
          <>
            <TextInput
              label={t("Labels")}
              required
              value={grader.labels}
              onChange={(event) => set({ labels: event.currentTarget.value })}
            />
            <TextInput
              label={t("Labels that pass")}
              required
              value={grader.passing}
              onChange={(event) => set({ passing: event.currentTarget.value })}
            />
          </>
        )}
      </SimpleGrid>
      {asksModel && (
        <Textarea
          mt="xs"
          label={t("Instructions")}
          autosize
          minRows={3}
          maxRows={12}
          required
          value={grader.instructions}
          onChange={(event) => set({ instructions: event.currentTarget.value })}
        />
      )}
    </Card>
  );
}
