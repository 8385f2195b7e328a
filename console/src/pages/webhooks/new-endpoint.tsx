import { Button, Checkbox, Code, Group, Modal, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { CopyButton } from "../../components/copy-button.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { t } from "../../i18n/translate.ts";
import { onceOnly } from "../keys/secret-once.tsx";
import { groupEvents } from "./group-events.ts";
import { type EndpointSetting, eventTypesQuery, newSecret, saveEndpoints } from "./webhooks-api.ts";

interface NewEndpointProps {
  existing: readonly EndpointSetting[];
  onClose: () => void;
}

/** Adds an endpoint, and shows its secret once. */
export function NewEndpoint({ existing, onClose }: NewEndpointProps) {
  const client = useQueryClient();
  const [url, setUrl] = useState("");
  const types = useQuery(eventTypesQuery).data ?? [];
  /** Undefined: all of them. */
  const [chosen, setChosen] = useState<string[]>();
  const events = chosen ?? types.map(({ type }) => type);
  const [secret] = useState(newSecret);
  const save = useMutation({
    mutationFn: () => {
      const isAll = events.length === types.length;
      return saveEndpoints(client, [...existing, { url: url.trim(), secret, ...(!isAll && { events }) }]);
    },
  });
  if (save.isSuccess) {
    return (
      <Modal opened onClose={onClose} title={t("Endpoint added")} {...onceOnly(true)}>
        <Text size="sm" mb="sm">
          {t("Verify the signature of each request with this secret. It is shown only once.")}
        </Text>
        <Group gap={4} wrap="nowrap">
          <Code block flex={1} miw={0} className="wrap-anywhere" data-testid="secret">
            {secret}
          </Code>
          <CopyButton text={secret} label={t("Copy secret")} />
        </Group>
        <Group justify="flex-end" mt="md">
          <Button onClick={onClose}>{t("Done")}</Button>
        </Group>
      </Modal>
    );
  }
  return (
    <Modal opened onClose={onClose} title={t("New endpoint")} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack>
          <TextInput
            label={t("URL")}
            type="url"
            required
            data-autofocus
            placeholder="https://example.com/webhooks"
            description={t("Receives a signed POST for each event")}
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
          />
          <Checkbox.Group label={t("Events")} value={events} onChange={setChosen}>
            <SimpleGrid cols={{ base: 1, xs: 2 }} mt={6} spacing="md">
              {groupEvents(types).map(([group, members]) => (
                <div key={group}>
                  <Text size="xs" c="dimmed" mb={4}>
                    {group}
                  </Text>
                  <Stack gap={6}>
                    {members.map(({ type, description }) => (
                      <Checkbox key={type} value={type} label={type} title={description} size="xs" />
                    ))}
                  </Stack>
                </div>
              ))}
            </SimpleGrid>
          </Checkbox.Group>
          <ErrorAlert error={save.error} />
          <Group justify="flex-end">
            <Button type="submit" loading={save.isPending} disabled={events.length === 0}>
              {t("Add endpoint")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
