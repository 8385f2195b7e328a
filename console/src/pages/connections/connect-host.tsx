import { Alert, Badge, Button, Group, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { FieldForm } from "../../components/field-form.tsx";
import { formatMilliseconds } from "../../components/format.ts";
import { ResourceTable } from "../../components/resource-table.tsx";
import { SectionCard } from "../../components/section-card.tsx";
import { useAction } from "../../components/use-action.ts";
import { useSave } from "../../components/use-save.ts";
import { plural, t } from "../../i18n/translate.ts";
import type { Host, HostTest } from "./connections-api.ts";
import { HostModels } from "./host-models.tsx";

interface HostFields {
  address: string;
  apiKey: string;
}

/** Form that tests an address and a key, and serves models that it finds there. */
export function ConnectHost() {
  const form = useForm<HostFields>({ initialValues: { address: "", apiKey: "" } });
  const test = useSave({
    save: ({ address, apiKey }: HostFields) =>
      request<HostTest>("v1/organization/connections/test", {
        method: "POST",
        body: { base_url: address, ...(apiKey !== "" && { api_key: apiKey }) },
      }),
    form,
    fields: { base_url: "address", api_key: "apiKey" },
  });
  const discovery = useAction(() =>
    request<Answers["DiscoveredHosts"]>("v1/organization/connections/discover", { method: "POST" }),
  );
  const server = test.data?.server;
  return (
    <SectionCard
      title={t("Connect a host")}
      about={t(
        "vLLM, llama-server, Ollama, LM Studio, LiteLLM, OpenAI, Anthropic or another server with OpenAI's API.",
      )}
    >
      <FieldForm form={form} saving={test} label={t("Connect a host")}>
        <Group align="flex-start" gap="sm">
          <TextInput
            label={t("Address")}
            placeholder="http://10.0.0.5:8000"
            required
            flex={2}
            miw={220}
            {...form.getInputProps("address")}
          />
          <PasswordInput
            label={t("API key")}
            placeholder={t("If it needs one")}
            flex={1}
            miw={180}
            autoComplete="off"
            {...form.getInputProps("apiKey")}
          />
          <Button type="submit" loading={test.isPending} mt={25}>
            {t("Test")}
          </Button>
          <Button variant="default" loading={discovery.isPending} mt={25} onClick={() => discovery.mutate()}>
            {t("Find on this machine")}
          </Button>
        </Group>
      </FieldForm>
      <ErrorAlert error={discovery.error} />
      {discovery.data !== undefined && (
        <Discovered
          hosts={discovery.data.data}
          choose={(address) => {
            form.setFieldValue("address", address);
            test.mutate({ ...form.values, address });
          }}
        />
      )}
      {test.data !== undefined && (
        <Stack mt="md">
          <Outcome test={test.data} />
          {server?.accepted === true && (
            <HostModels
              key={server.base_url}
              host={server}
              apiKey={form.values.apiKey}
              onSaved={() => {
                test.reset();
                form.reset();
              }}
            />
          )}
        </Stack>
      )}
    </SectionCard>
  );
}

function Discovered({ hosts, choose }: { hosts: readonly Host[]; choose: (url: string) => void }) {
  return (
    <ResourceTable
      isBare
      isHeadless
      rows={hosts}
      keyOf={({ base_url }) => base_url}
      empty={
        <Text size="sm" mt="md">
          {t("No inference server answers on the machine of this service.")}
        </Text>
      }
      columns={[
        { label: t("Address"), cell: ({ base_url }) => base_url },
        { label: t("Kind"), cell: ({ kind }) => kind },
        {
          label: t("Models"),
          cell: ({ models }) => plural(models.length, "{{count}} model", "{{count}} models"),
        },
      ]}
      actions={({ base_url }) => (
        <Button size="compact-sm" variant="subtle" onClick={() => choose(base_url)}>
          {t("Test")}
        </Button>
      )}
    />
  );
}

function Outcome({ test: { ok, problem, server, first_token: first } }: { test: HostTest }) {
  return (
    <Alert color={ok ? "teal" : "red"} role="status" title={ok ? t("It works") : t("It does not work yet")}>
      <Group gap="xs">
        {server !== null && (
          <Badge variant="light" tt="none">
            {server.kind} {server.version}
          </Badge>
        )}
        {problem !== null && <Text size="sm">{problem}</Text>}
        {first !== null && first.milliseconds !== null && (
          <Text size="sm">
            {t("First token of {{model}}: {{time}}", {
              model: first.model,
              time: formatMilliseconds(first.milliseconds),
            })}
          </Text>
        )}
      </Group>
    </Alert>
  );
}
