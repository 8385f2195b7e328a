import { Badge, Code, Group, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { CodeBlock } from "../../components/code-block.tsx";
import { InlineCode } from "../../components/inline-code.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
import { plural, t } from "../../i18n/translate.ts";
import { curlOf } from "./curl-of.ts";
import { fieldsOf, type OpenApi, type Route, resolve, type Schema, typeOf } from "./openapi.ts";

interface RouteDetailsProps {
  route: Route;
  document: OpenApi;
}

export function RouteDetails({ route, document }: RouteDetailsProps) {
  const { parameters = [], requestBody, responses } = route;
  const bodies = Object.entries(requestBody?.content ?? {});
  const success = Object.entries(responses["200"]?.content ?? {});
  const answer = responses["200"]?.content?.["application/json"]?.schema ?? {};
  const errors = Object.entries(responses).filter(([status]) => status !== "200");
  const curl = curlOf(route, document);
  return (
    <Stack px="md" pb="md" gap="md" pl={{ base: "md", sm: 44 }}>
      <CodeBlock text={curl} />
      {parameters.length > 0 && (
        <Section title={t("Parameters")}>
          <FieldTable
            document={document}
            fields={parameters.map(({ name, description = "", schema, required }) => [
              name,
              { ...schema, description },
              required,
            ])}
          />
        </Section>
      )}
      {bodies.map(([type, { schema }]) => (
        <Section key={type} title={t("Body")} detail={type}>
          <FieldTable document={document} fields={fieldsOf(schema, document)} />
        </Section>
      ))}
      <Section title={t("Answer")} detail={`200 ${success.map(([type]) => type).join(", ")}`}>
        <FieldTable document={document} fields={fieldsOf(answer, document)} />
      </Section>
      <Section title={t("Errors")}>
        <Stack gap={2}>
          {errors.map(([status, { description }]) => (
            <Text key={status} size="sm" c="dimmed">
              <Code>{status}</Code> <InlineCode text={description} />
            </Text>
          ))}
        </Stack>
      </Section>
    </Stack>
  );
}

function Section({ title, detail, children }: { title: string; detail?: string; children: ReactNode }) {
  return (
    <div>
      <Group gap="xs" mb={4}>
        <Title order={3}>{title}</Title>
        {detail !== undefined && (
          <Text size="xs" c="dimmed" ff="monospace">
            {detail}
          </Text>
        )}
      </Group>
      {children}
    </div>
  );
}

interface FieldTableProps {
  document: OpenApi;
  fields: [name: string, schema: Schema, isRequired: boolean][];
  depth?: number;
}

const MAX_DEPTH = 4;

function FieldTable({ document, fields, depth = 0 }: FieldTableProps) {
  return (
    <ResourceTable
      isBare
      isHeadless
      rows={fields}
      keyOf={([name]) => name}
      minWidth={300}
      empty={null}
      columns={[
        {
          label: t("Name"),
          className: "field-name wrap-anywhere",
          cell: ([name, , isRequired]) => (
            <>
              <Code>{name}</Code>
              {isRequired && (
                <Badge size="sm" variant="default" tt="none" ml={6}>
                  {t("required")}
                </Badge>
              )}
            </>
          ),
        },
        {
          label: t("Description"),
          className: "wrap-anywhere",
          cell: ([, schema]) => <Field document={document} schema={schema} depth={depth} />,
        },
      ]}
    />
  );
}

function Field({ document, schema, depth }: { document: OpenApi; schema: Schema; depth: number }) {
  const inner = depth < MAX_DEPTH ? fieldsOf(schema, document) : [];
  const description = schema.description ?? resolve(schema, document).schema.description;
  return (
    <>
      <Text size="xs" c="dimmed" ff="monospace">
        {typeOf(schema, document)}
        {schema.default !== undefined && ` = ${JSON.stringify(schema.default)}`}
      </Text>
      {description !== undefined && (
        <Text size="sm">
          <InlineCode text={description} />
        </Text>
      )}
      {inner.length > 0 && (
        <details>
          <summary className="fields">{plural(inner.length, "{{count}} field", "{{count}} fields")}</summary>
          <FieldTable document={document} fields={inner} depth={depth + 1} />
        </details>
      )}
    </>
  );
}
