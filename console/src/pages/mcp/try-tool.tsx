import { Button, Group, JsonInput, Stack, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import { useSession } from "../../api/session.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { useAbort } from "../../components/use-abort.ts";
import { useAction } from "../../components/use-action.ts";
import { msg, t } from "../../i18n/translate.ts";
import { CallResult } from "./call-result.tsx";
import { callTool, MCP_CALLS, type McpTool } from "./mcp-api.ts";
import { SchemaFieldInput } from "./schema-field-input.tsx";
import { type FieldValues, initialValues, toFields, toInput } from "./schema-fields.ts";

/** Form that calls a tool with an input of its schema. */
export function TryTool({ server, tool }: { server: string; tool: McpTool }) {
  const { project } = useSession();
  const fields = useMemo(() => toFields(tool.input_schema), [tool.input_schema]);
  const [values, setValues] = useState<FieldValues>(() => initialValues(fields ?? []));
  const [json, setJson] = useState("{}");
  const [problems, setProblems] = useState<Record<string, string>>({});
  const [showsSchema, setShowsSchema] = useState(false);
  const abort = useAbort();
  const call = useAction((input: Record<string, unknown>) => callTool(server, tool.id, input, abort.next()), {
    changes: [MCP_CALLS],
  });
  const submit = () => {
    if (fields === undefined) {
      const input = toObject(json);
      setProblems(input === undefined ? { "": t("Write a JSON object.") } : {});
      if (input !== undefined) call.mutate(input);
      return;
    }
    const { input, problems: found } = toInput(fields, values);
    setProblems(Object.fromEntries(Object.entries(found).map(([name, problem]) => [name, t(PROBLEMS[problem])])));
    if (Object.keys(found).length === 0) call.mutate(input);
  };
  return (
    <form
      aria-label={t("Try {{tool}}", { tool: tool.id })}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="sm" maw={680}>
        {fields === undefined ? (
          <JsonInput
            label={t("Input")}
            autosize
            minRows={4}
            formatOnBlur
            value={json}
            onChange={setJson}
            error={problems[""]}
          />
        ) : (
          fields.map((field) => (
            <SchemaFieldInput
              key={field.name}
              field={field}
              value={values[field.name] ?? ""}
              problem={problems[field.name]}
              onChange={(value) => setValues((now) => ({ ...now, [field.name]: value }))}
            />
          ))
        )}
        {fields?.length === 0 && (
          <Text size="sm" c="dimmed">
            {t("The tool takes no input.")}
          </Text>
        )}
        <Group gap="sm">
          <Button type="submit" loading={call.isPending} disabled={project === null}>
            {t("Try this tool")}
          </Button>
          {call.isPending && (
            <Button variant="default" onClick={abort.abort}>
              {t("Stop")}
            </Button>
          )}
          <Button variant="subtle" aria-expanded={showsSchema} onClick={() => setShowsSchema(!showsSchema)}>
            {showsSchema ? t("Hide the JSON Schema") : t("Show the JSON Schema")}
          </Button>
        </Group>
        {project === null ? (
          <Text size="sm" c="dimmed">
            {t("Calls need the key of a project: add one in the chat.")}
          </Text>
        ) : (
          <Text size="xs" c="dimmed">
            {t("The call is made as {{project}}, with its limits and price.", { project: project.name })}
          </Text>
        )}
        {showsSchema && (
          <CodeBlock text={JSON.stringify(tool.input_schema, undefined, 2)} label={t("Copy the schema")} />
        )}
        <ErrorAlert error={call.error} />
        {call.data !== undefined && <CallResult result={call.data} />}
      </Stack>
    </form>
  );
}

const PROBLEMS = {
  missing: msg("The tool needs it."),
  number: msg("Write a number."),
  integer: msg("Write a number without a fraction."),
  json: msg("Write valid JSON."),
} as const;

function toObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.trim() === "" ? "{}" : text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
