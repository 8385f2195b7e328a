import { Checkbox, Code, Group, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { CopyButton } from "../../components/copy-button.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { t } from "../../i18n/translate.ts";
import { groupEvents } from "./group-events.ts";
import { type EndpointSetting, eventTypesQuery, newSecret, saveEndpoints, WEBHOOK_QUERIES } from "./webhooks-api.ts";

interface NewEndpointProps {
  existing: readonly EndpointSetting[];
  onClose: () => void;
}

interface EndpointFields {
  url: string;
  /** Null: all of them. */
  events: string[] | null;
}

/** Adds an endpoint, and shows its secret once. */
export function NewEndpoint({ existing, onClose }: NewEndpointProps) {
  const types = useQuery(eventTypesQuery).data ?? [];
  return (
    <FormDialog<EndpointFields, string>
      title={t("New endpoint")}
      action={t("Add endpoint")}
      size="lg"
      onClose={onClose}
      initial={{ url: "", events: null }}
      isReady={({ events }) => events === null || events.length > 0}
      save={async ({ url, events }) => {
        const secret = newSecret();
        const isAll = events === null || events.length === types.length;
        await saveEndpoints([...existing, { url: url.trim(), secret, ...(!isAll && { events }) }]);
        return secret;
      }}
      // The setting is the list of endpoints, whose only free text is the URL.
      parameters={{ webhooks: "url", value: "url" }}
      changes={WEBHOOK_QUERIES}
      outcome={(secret) => <Secret text={secret} />}
    >
      {(form) => (
        <>
          <TextInput
            label={t("URL")}
            type="url"
            required
            data-autofocus
            placeholder="https://example.com/webhooks"
            description={t("Receives a signed POST for each event")}
            {...form.getInputProps("url")}
          />
          <Checkbox.Group
            label={t("Events")}
            value={form.values.events ?? types.map(({ type }) => type)}
            onChange={(events) => form.setFieldValue("events", events)}
          >
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
        </>
      )}
    </FormDialog>
  );
}

function Secret({ text }: { text: string }) {
  return (
    <>
      <Text size="sm">{t("Verify the signature of each request with this secret. It is shown only once.")}</Text>
      <Group gap={4} wrap="nowrap">
        <Code block flex={1} miw={0} className="wrap-anywhere" data-testid="secret">
          {text}
        </Code>
        <CopyButton text={text} label={t("Copy secret")} />
      </Group>
    </>
  );
}
