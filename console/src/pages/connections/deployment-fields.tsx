import { Button, Group, NumberInput, Select, SimpleGrid, Text, TextInput } from "@mantine/core";
import { msg, t } from "../../i18n/translate.ts";
import type { DeploymentValue } from "./host-groups.ts";
import { abilityOf, withAbility } from "./model-value.ts";

interface DeploymentFieldsProps {
  deployment: DeploymentValue;
  number: number;
  connections: readonly string[];
  hasAbilities: boolean;
  onChange: (deployment: DeploymentValue) => void;
  onRemove: (() => void) | undefined;
}

const ABILITIES = [
  { name: "vision", label: msg("Images") },
  { name: "tools", label: msg("Tools") },
  { name: "json_schema", label: msg("JSON Schema") },
];

/** Where a model runs: the connection, the model there, its weight, context and abilities. */
export function DeploymentFields(props: DeploymentFieldsProps) {
  const { deployment, number, connections, hasAbilities, onChange, onRemove } = props;
  const { engine, connection, base_url: address } = deployment;
  const isOfConnection = engine === undefined && address === undefined;
  return (
    <>
      <Group justify="space-between" mb={6}>
        <Text size="sm" fw={500}>
          {isOfConnection
            ? t("Deployment {{number}}", { number })
            : t("Deployment {{number}}: {{engine}}", { number, engine: engine ?? address ?? "" })}
        </Text>
        {onRemove !== undefined && (
          <Button size="compact-xs" variant="subtle" color="red" onClick={onRemove}>
            {t("Remove")}
          </Button>
        )}
      </Group>
      <SimpleGrid cols={{ base: 1, xs: 2, sm: 4 }} spacing="xs">
        {isOfConnection && (
          <Select
            size="xs"
            label={t("Connection")}
            placeholder={t("Choose a host")}
            data={[...connections]}
            value={connection ?? null}
            onChange={(next) => onChange({ ...deployment, ...(next !== null && { connection: next }) })}
          />
        )}
        <TextInput
          size="xs"
          label={t("Model there")}
          value={deployment.model ?? ""}
          onChange={(event) => onChange({ ...deployment, model: event.currentTarget.value })}
        />
        <NumberInput
          size="xs"
          label={t("Weight")}
          placeholder="1"
          min={0}
          value={deployment.weight ?? ""}
          onChange={(weight) => onChange(withNumber(deployment, "weight", weight))}
        />
        <NumberInput
          size="xs"
          label={t("Context, tokens")}
          placeholder={t("unknown")}
          min={1}
          value={deployment.context_window ?? ""}
          onChange={(tokens) => onChange(withNumber(deployment, "context_window", tokens))}
        />
        {hasAbilities &&
          ABILITIES.map(({ name, label }) => (
            <Select
              key={name}
              size="xs"
              label={t(label)}
              allowDeselect={false}
              data={[
                { value: "null", label: t("unknown: it is tried") },
                { value: "true", label: t("yes") },
                { value: "false", label: t("no") },
              ]}
              value={String(abilityOf(deployment, name))}
              onChange={(next) => onChange(withAbility(deployment, name, JSON.parse(next ?? "null")))}
            />
          ))}
      </SimpleGrid>
    </>
  );
}

function withNumber(deployment: DeploymentValue, name: "weight" | "context_window", value: number | string) {
  const { [name]: _before, ...others } = deployment;
  return typeof value === "number" ? { ...others, [name]: value } : others;
}
