import { TextInput, type TextInputProps } from "@mantine/core";
import { useState } from "react";

interface NumberFieldProps extends Omit<TextInputProps, "value" | "onChange" | "min" | "max" | "step"> {
  value: number | undefined;
  /** Called with undefined when the field is empty. */
  onChange: (value: number | undefined) => void;
  min?: number | undefined;
  max?: number | undefined;
  /** Default: integers. */
  step?: number;
}

/** A number of the browser's own field: Mantine's would be a tenth of the first load's JavaScript of the chat. */
export function NumberField({ value, onChange, min, max, step = 1, ...others }: NumberFieldProps) {
  // "1." and "-" are not numbers yet, and what is typed must not change below the caret.
  const [typed, setTyped] = useState<string>();
  return (
    <TextInput
      {...others}
      type="number"
      inputMode={step === 1 && (min ?? -1) >= 0 ? "numeric" : "decimal"}
      step={step}
      {...(min !== undefined && { min })}
      {...(max !== undefined && { max })}
      value={typed ?? value ?? ""}
      onChange={({ currentTarget: { value: text, valueAsNumber } }) => {
        setTyped(text);
        onChange(Number.isFinite(valueAsNumber) ? valueAsNumber : undefined);
      }}
      onBlur={() => {
        setTyped(undefined);
        if (value !== undefined) onChange(within(step === 1 ? Math.round(value) : value, min, max));
      }}
    />
  );
}

function within(value: number, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): number {
  return Math.min(max, Math.max(min, value));
}
