import { Group, Slider, Text } from "@mantine/core";
import { NumberField } from "../../components/number-field.tsx";
import { t } from "../../i18n/translate.ts";

interface BoundedSliderProps {
  label: string;
  min: number;
  max: number;
  /** Where the slider stands without a value. Default: 0 for symmetric bounds, otherwise 1. */
  neutral?: number;
  value: number | undefined;
  onChange: (value: number | undefined) => void;
}

/** Slider beside a number field, which can be emptied for the model's default. */
export function BoundedSlider({ label, min, max, neutral = min < 0 ? 0 : 1, value, onChange }: BoundedSliderProps) {
  return (
    <div>
      <Group justify="space-between" mb={2}>
        <Text size="sm" fw={500}>
          {label}
        </Text>
        <NumberField
          aria-label={label}
          placeholder={t("Default")}
          size="xs"
          w={84}
          min={min}
          max={max}
          step={0.05}
          value={value}
          onChange={onChange}
        />
      </Group>
      <Slider
        size="sm"
        min={min}
        max={max}
        step={0.05}
        label={null}
        thumbLabel={label}
        value={value ?? neutral}
        opacity={value === undefined ? 0.45 : 1}
        onChange={onChange}
      />
    </div>
  );
}
