import { Button, Card, Group, Image, NumberInput, Select, SimpleGrid, Stack, Text, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Answers } from "../../api/answers.ts";
import type { ModelEntry } from "../../api/models.ts";
import { send } from "../../api/request.ts";
import { AsCode } from "../../components/as-code.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { ExpectedResult } from "../../components/expected-result.tsx";
import { formatSeconds } from "../../components/format.ts";
import { ModelSelect } from "../../components/model-select.tsx";
import { useAbort } from "../../components/use-abort.ts";
import { WithModels } from "../../components/with-models.tsx";
import { plural, t } from "../../i18n/translate.ts";
import { IconDownload, IconPhoto } from "../../icons.tsx";
import { type ImageSettings, imageBody, imageSamples } from "./image-code.ts";

export function ImagesPage() {
  return (
    <WithModels title={t("Images")} description={t("Make images from a prompt.")} task="image" icon={<IconPhoto />}>
      {(models) => <ImageForm models={models} />}
    </WithModels>
  );
}

const SIZES = ["auto", "512x512", "1024x1024", "1536x1024", "1024x1536"];
const MAX_IMAGES = 4;

interface MadeImages {
  urls: string[];
  prompt: string;
  format: string;
  seconds: number;
}

function ImageForm({ models }: { models: ModelEntry[] }) {
  const [settings, setSettings] = useState<ImageSettings>({
    model: models[0]?.id ?? "",
    prompt: t("A heron in the reeds at dawn, watercolor"),
    size: "1024x1024",
    n: 1,
  });
  const set = (part: Partial<ImageSettings>) => setSettings((now) => ({ ...now, ...part }));
  const abort = useAbort();
  const generate = useMutation({ mutationFn: () => makeImages(settings, abort.next()) });
  return (
    <Card>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          generate.mutate();
        }}
      >
        <Stack>
          <Textarea
            label={t("Prompt")}
            autosize
            minRows={3}
            maxRows={10}
            value={settings.prompt}
            onChange={(event) => set({ prompt: event.currentTarget.value })}
          />
          <Group align="flex-end">
            <ModelSelect models={models} value={settings.model} onChange={(model) => set({ model })} />
            <Select
              label={t("Size")}
              w={140}
              data={SIZES}
              allowDeselect={false}
              value={settings.size}
              onChange={(size) => set({ size: size ?? "auto" })}
            />
            <NumberInput
              label={t("Images")}
              w={100}
              min={1}
              max={MAX_IMAGES}
              value={settings.n}
              onChange={(n) => set({ n: typeof n === "number" ? n : 1 })}
            />
          </Group>
          <Group>
            <Button
              type="submit"
              leftSection={<IconPhoto size={16} />}
              loading={generate.isPending}
              disabled={settings.prompt.trim() === ""}
            >
              {t("Generate")}
            </Button>
            {generate.isPending && (
              <Button variant="default" onClick={abort.abort}>
                {t("Cancel")}
              </Button>
            )}
            <AsCode samples={() => imageSamples(settings)} />
          </Group>
          <ErrorAlert error={generate.error?.name === "AbortError" ? null : generate.error} />
          {generate.data === undefined && (
            <ExpectedResult shape="tiles">{t("The images appear here, to look at and to download.")}</ExpectedResult>
          )}
          {generate.data !== undefined && <MadeImagesGrid images={generate.data} />}
        </Stack>
      </form>
    </Card>
  );
}

function MadeImagesGrid({ images: { urls, prompt, format, seconds } }: { images: MadeImages }) {
  return (
    <Stack gap="xs">
      <SimpleGrid cols={{ base: 1, sm: urls.length === 1 ? 1 : 2 }}>
        {urls.map((url, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same image may come twice
          <Stack key={index} gap={6} align="flex-start">
            <Image src={url} alt={prompt} radius="md" maw={640} />
            <Button
              component="a"
              variant="default"
              size="xs"
              href={url}
              download={`image-${index + 1}.${format}`}
              leftSection={<IconDownload size={15} />}
            >
              {t("Download")}
            </Button>
          </Stack>
        ))}
      </SimpleGrid>
      <Text size="xs" c="dimmed" className="tabular" role="status">
        {plural(urls.length, "{{count}} image in {{time}}", "{{count}} images in {{time}}", {
          time: formatSeconds(seconds),
        })}
      </Text>
    </Stack>
  );
}

async function makeImages(settings: ImageSettings, signal: AbortSignal): Promise<MadeImages> {
  const beganAt = performance.now();
  const response = await send("v1/images/generations", { method: "POST", body: imageBody(settings), signal });
  const { data, output_format: format = "png" }: Answers["Images"] = await response.json();
  const urls = data.map(({ b64_json: content, url = "" }) =>
    content === undefined ? url : `data:image/${format};base64,${content}`,
  );
  return { urls, prompt: settings.prompt, format, seconds: (performance.now() - beganAt) / 1000 };
}
