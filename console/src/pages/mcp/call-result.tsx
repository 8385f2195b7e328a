import { Anchor, Badge, Group, Image, Stack, Text } from "@mantine/core";
import { useEffect, useMemo } from "react";
import { formatMilliseconds, formatPrice } from "../../components/format.ts";
import { JsonBlock } from "../../components/json-block.tsx";
import { t } from "../../i18n/translate.ts";
import type { McpCallResult } from "./mcp-api.ts";

type Block = McpCallResult["content"][number] & Readonly<Record<string, unknown>>;

const IMAGES = /^image\/(png|jpeg|gif|webp|avif)$/;
const AUDIO = /^audio\/[\w.+-]+$/;

/** What a tool returned: texts, images, recordings and resources. */
export function CallResult({ result }: { result: McpCallResult }) {
  const { content, structured_content: structured, is_error: isError, duration_ms: duration, cost_usd: cost } = result;
  return (
    <section aria-label={t("Result")}>
      <Group gap="xs" mb={6}>
        <Badge variant="dot" color={isError ? "orange" : "teal"} tt="none" fw={500}>
          {isError ? t("The tool failed") : t("Completed")}
        </Badge>
        <Text size="xs" c="dimmed" className="tabular">
          {formatMilliseconds(duration)}
          {cost !== null && ` · ${formatPrice(cost)}`}
        </Text>
      </Group>
      <Stack gap="xs">
        {content.map((block, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of a result do not move
          <BlockView key={index} block={block as Block} />
        ))}
        {structured !== null && (
          <div>
            <Text size="xs" c="dimmed" mb={2}>
              {t("Structured content")}
            </Text>
            <JsonBlock text={JSON.stringify(structured)} label={t("Copy the result")} />
          </div>
        )}
        {content.length === 0 && structured === null && (
          <Text size="sm" c="dimmed">
            {t("The result is empty.")}
          </Text>
        )}
      </Stack>
    </section>
  );
}

function BlockView({ block }: { block: Block }) {
  const { type, text, data, mimeType, uri, name } = block;
  if (type === "text" && typeof text === "string") return <JsonBlock text={text} label={t("Copy the result")} />;
  if (type === "image" && typeof data === "string" && IMAGES.test(String(mimeType))) {
    return (
      <Image
        src={`data:${String(mimeType)};base64,${data}`}
        alt={t("Result")}
        radius="md"
        w="auto"
        maw="100%"
        mah={420}
      />
    );
  }
  if (type === "audio" && typeof data === "string" && AUDIO.test(String(mimeType)) && isBase64(data)) {
    return <Recording data={data} type={String(mimeType)} />;
  }
  if (type === "resource_link" && typeof uri === "string") return <ResourceLink uri={uri} name={name} />;
  return <JsonBlock text={JSON.stringify(block)} label={t("Copy the result")} />;
}

function Recording({ data, type }: { data: string; type: string }) {
  const url = useMemo(() => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    return URL.createObjectURL(new Blob([bytes], { type }));
  }, [data, type]);
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  // biome-ignore lint/a11y/useMediaCaption: a tool sends no captions
  return <audio controls src={url} aria-label={t("Result")} />;
}

function isBase64(data: string): boolean {
  try {
    atob(data);
    return true;
  } catch {
    return false;
  }
}

/** Only addresses of the web become links. */
function ResourceLink({ uri, name }: { uri: string; name: unknown }) {
  const label = typeof name === "string" && name !== "" ? name : uri;
  if (!/^https?:\/\//.test(uri)) return <Text size="sm">{`${label} (${uri})`}</Text>;
  return (
    <Anchor href={uri} target="_blank" rel="noreferrer" size="sm" className="wrap-anywhere">
      {label}
    </Anchor>
  );
}
