import { FileInput, NativeSelect, NumberInput, Textarea } from "@mantine/core";
import { toDataUrl } from "../../components/data-url.ts";
import { t } from "../../i18n/translate.ts";
import type { PromptVariable } from "./prompts-api.ts";

/** Empty: the default of the variable, if it has one. */
export type VariableValue = string | number | object;

interface VariableFieldProps {
  variable: PromptVariable;
  value: VariableValue;
  onChange: (value: VariableValue) => void;
}

/** Field for the value of a variable, by its type. */
export function VariableField({ variable, value, onChange }: VariableFieldProps) {
  const { name, type, description, options = [], default: fallback } = variable;
  const common = { label: name, description, required: fallback === undefined };
  if (type === "number") {
    return <NumberInput {...common} value={value as string | number} onChange={(next) => onChange(next)} />;
  }
  if (type === "enum" || type === "boolean") {
    const choices = type === "boolean" ? ["true", "false"] : options;
    const data = fallback === undefined ? ["", ...choices] : choices;
    return (
      <NativeSelect
        {...common}
        data={data}
        value={value as string}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  if (type === "image" || type === "file") {
    return (
      <FileInput
        {...common}
        placeholder={type === "image" ? t("Choose an image") : t("Choose a file")}
        {...(type === "image" && { accept: "image/*" })}
        onChange={async (file) => onChange(file === null ? "" : await toPart(type, file))}
      />
    );
  }
  return (
    <Textarea
      {...common}
      autosize
      minRows={1}
      maxRows={10}
      {...(type === "json" && { placeholder: t('{"name": "value"}'), className: "code-field" })}
      value={value as string}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

async function toPart(type: "image" | "file", file: File): Promise<object> {
  const url = await toDataUrl(file);
  return type === "image"
    ? { type: "input_image", image_url: url }
    : { type: "input_file", filename: file.name, file_data: url };
}
