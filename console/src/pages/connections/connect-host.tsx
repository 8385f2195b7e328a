import { Alert, Badge, Button, Group, PasswordInput, Stack, Table, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { formatMilliseconds } from "../../components/format.ts";
import { notifyDone, notifyFailure } from "../../components/notify.tsx";
import { SectionCard } from "../../components/section-card.tsx";
import { plural, t } from "../../i18n/translate.ts";
import { type Host, type HostTest, refreshConfiguration } from "./connections-api.ts";
import { HostModels } from "./host-models.tsx";

/** Form that tests an address and a key, and serves models that it finds there. */
export function ConnectHost() {
  const [address, setAddress] = useState("");
  const [apiKey, setApiKey] = useState("");
  const test = useMutation({
    mutationFn: (base_url: string) =>
      request<HostTest>("v1/organization/connections/test", {
        method: "POST",
        body: { base_url, ...(apiKey !== "" && { api_key: apiKey }) },
      }),
    onError: notifyFailure,
  });
  const discovery = useMutation({
    mutationFn: () => request<Answers["DiscoveredHosts"]>("v1/organization/connections/discover", { method: "POST" }),
    onError: notifyFailure,
  });
  const client = useQueryClient();
  const done = async (message: string) => {
    notifyDone(message);
    test.reset();
    setAddress("");
    setApiKey("");
    await refreshConfiguration(client);
  };
  return (
    <SectionCard
      title={t("Connect a host")}
      about={t(
        "vLLM, llama-server, Ollama, LM Studio, LiteLLM, OpenAI, Anthropic or another server with OpenAI's API.",
      )}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          test.mutate(address);
        }}
      >
        <Group align="flex-end" gap="sm">
          <TextInput
            label={t("Address")}
            placeholder="http://10.0.0.5:8000"
            required
            flex={2}
            miw={220}
            value={address}
            onChange={(event) => setAddress(event.currentTarget.value)}
          />
          <PasswordInput
            label={t("API key")}
            placeholder={t("If it needs one")}
            flex={1}
            miw={180}
            autoComplete="off"
            value={apiKey}
            onChange={(event) => setApiKey(event.currentTarget.value)}
          />
          <Button type="submit" loading={test.isPending}>
            {t("Test")}
          </Button>
          <Button variant="default" loading={discovery.isPending} onClick={() => discovery.mutate()}>
            {t("Find on this machine")}
          </Button>
        </Group>
      </form>
      {discovery.data !== undefined && (
        <Discovered
          hosts={discovery.data.data}
          choose={(url) => {
            setAddress(url);
            test.mutate(url);
          }}
        />
      )}
      {test.data !== undefined && (
        <Stack mt="md">
          <Outcome test={test.data} />
          {test.data.server?.accepted === true && (
            <HostModels key={test.data.server.base_url} host={test.data.server} apiKey={apiKey} onSaved={done} />
          )}
        </Stack>
      )}
    </SectionCard>
  );
}

function Discovered({ hosts, choose }: { hosts: readonly Host[]; choose: (url: string) => void }) {
  if (hosts.length === 0) {
    return (
      <Text size="sm" mt="md">
        {t("No inference server answers on the machine of this service.")}
      </Text>
    );
  }
  return (
    <Table mt="md">
      <Table.Tbody>
        {hosts.map(({ base_url, kind, models }) => (
          <Table.Tr key={base_url}>
            <Table.Td>{base_url}</Table.Td>
            <Table.Td>{kind}</Table.Td>
            <Table.Td>{plural(models.length, "{{count}} model", "{{count}} models")}</Table.Td>
            <Table.Td ta="right">
              <Button size="compact-sm" variant="subtle" onClick={() => choose(base_url)}>
                {t("Test")}
              </Button>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Outcome({ test: { ok, problem, server, first_token: first } }: { test: HostTest }) {
  return (
    <Alert color={ok ? "teal" : "red"} title={ok ? t("It works") : t("It does not work yet")}>
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
