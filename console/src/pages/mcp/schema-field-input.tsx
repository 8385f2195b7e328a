import { JsonInput, Select, TagsInput, Textarea, TextInput } from "@mantine/core";
import { t } from "../../i18n/translate.ts";
import { type FieldValue, type SchemaField, typeOf } from "./schema-fields.ts";

interface SchemaFieldInputProps {
  field: SchemaField;
  value: FieldValue;
  problem: string | undefined;
  onChange: (value: FieldValue) => void;
}

const AUTOSIZE = { autosize: true, minRows: 1, maxRows: 10 } as const;

/** One field of a tool's input. */
export function SchemaFieldInput({ field, value, problem, onChange }: SchemaFieldInputProps) {
  const { kind, isRequired, options } = field;
  const text = Array.isArray(value) ? "" : value;
  const common = {
    label: field.label,
    description: [field.description, field.label === field.name ? "" : `(${field.name})`].filter(Boolean).join(" "),
    withAsterisk: isRequired,
    error: problem,
    placeholder: typeOf(field),
  };
  switch (kind) {
    case "choice":
    case "boolean": {
      const data = kind === "boolean" ? ["true", "false"] : [...options.keys()];
      const choose = (next: string | null) => onChange(next ?? "");
      return <Select {...common} clearable={!isRequired} data={data} value={text || null} onChange={choose} />;
    }
    case "texts":
      return (
        <TagsInput
          {...common}
          placeholder={t("Add with Enter")}
          value={Array.isArray(value) ? value : []}
          onChange={onChange}
        />
      );
    case "json":
      return <JsonInput {...common} {...AUTOSIZE} minRows={2} value={text} onChange={onChange} />;
    case "number":
    case "integer":
      return (
        <TextInput
          {...common}
          inputMode={kind === "integer" ? "numeric" : "decimal"}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    default:
      return (
        <Textarea {...common} {...AUTOSIZE} value={text} onChange={(event) => onChange(event.currentTarget.value)} />
      );
  }
}
