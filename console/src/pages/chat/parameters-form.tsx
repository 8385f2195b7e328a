import { Group, JsonInput, NumberInput, Select, Slider, Stack, TagsInput, Text, Textarea } from "@mantine/core";
import type { Parameters } from "./conversation.ts";

interface ParametersFormProps {
  parameters: Parameters;
  onChange: (parameters: Parameters) => void;
  canReason: boolean;
}

export function ParametersForm({ parameters, onChange, canReason }: ParametersFormProps) {
  const set = (part: Partial<Parameters>) => onChange({ ...parameters, ...part });
  return (
    <Stack gap="md">
      <Textarea
        label="System prompt"
        placeholder="You are a helpful assistant."
        autosize
        minRows={2}
        maxRows={8}
        value={parameters.system}
        onChange={(event) => set({ system: event.currentTarget.value })}
      />
      <BoundedSlider
        label="Temperature"
        min={0}
        max={2}
        value={parameters.temperature}
        onChange={(temperature) => set({ temperature })}
      />
      <BoundedSlider label="Top P" min={0} max={1} value={parameters.topP} onChange={(topP) => set({ topP })} />
      <BoundedSlider
        label="Frequency penalty"
        min={-2}
        max={2}
        value={parameters.frequencyPenalty}
        onChange={(frequencyPenalty) => set({ frequencyPenalty })}
      />
      <BoundedSlider
        label="Presence penalty"
        min={-2}
        max={2}
        value={parameters.presencePenalty}
        onChange={(presencePenalty) => set({ presencePenalty })}
      />
      <Group grow align="flex-start">
        <NumberInput
          label="Max tokens"
          placeholder="Default"
          min={1}
          allowDecimal={false}
          value={parameters.maxTokens ?? ""}
          onChange={(value) => set({ maxTokens: toNumber(value) })}
        />
        <NumberInput
          label="Seed"
          placeholder="Random"
          allowDecimal={false}
          hideControls
          value={parameters.seed ?? ""}
          onChange={(value) => set({ seed: toNumber(value) })}
        />
      </Group>
      <TagsInput
        label="Stop sequences"
        placeholder={parameters.stop.length === 0 ? "At most 4, with Enter" : ""}
        maxTags={4}
        value={parameters.stop}
        onChange={(stop) => set({ stop })}
      />
      {canReason && (
        <Select
          label="Reasoning effort"
          placeholder="Default"
          clearable
          data={["none", "low", "medium", "high"]}
          value={parameters.reasoningEffort ?? null}
          onChange={(value) => set({ reasoningEffort: value ?? undefined })}
        />
      )}
      <JsonInput
        label="JSON Schema of the answer"
        placeholder='{"type": "object", …}'
        validationError="This is not valid JSON"
        formatOnBlur
        autosize
        minRows={2}
        maxRows={12}
        value={parameters.schema}
        onChange={(schema) => set({ schema })}
      />
      <JsonInput
        label="Tools"
        placeholder='[{"type": "function", "function": {…}}]'
        validationError="This is not valid JSON"
        formatOnBlur
        autosize
        minRows={2}
        maxRows={12}
        value={parameters.tools}
        onChange={(tools) => set({ tools })}
      />
    </Stack>
  );
}

interface BoundedSliderProps {
  label: string;
  min: number;
  max: number;
  value: number | undefined;
  onChange: (value: number | undefined) => void;
}

/** Slider beside a number field, which can be emptied for the model's default. */
function BoundedSlider({ label, min, max, value, onChange }: BoundedSliderProps) {
  return (
    <div>
      <Group justify="space-between" mb={2}>
        <Text size="sm" fw={500}>
          {label}
        </Text>
        <NumberInput
          aria-label={label}
          placeholder="Default"
          size="xs"
          w={84}
          min={min}
          max={max}
          step={0.1}
          decimalScale={2}
          clampBehavior="blur"
          value={value ?? ""}
          onChange={(next) => onChange(toNumber(next))}
        />
      </Group>
      <Slider
        size="sm"
        min={min}
        max={max}
        step={0.05}
        label={null}
        thumbLabel={label}
        value={value ?? (min < 0 ? 0 : 1)}
        opacity={value === undefined ? 0.45 : 1}
        onChange={onChange}
      />
    </div>
  );
}

function toNumber(value: number | string): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
