import { Anchor, Badge, Button, Card, Collapse, Group, Image, Loader, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import { formatFixed } from "../../../components/format.ts";
import { JsonBlock } from "../../../components/json-block.tsx";
import { type Message, msg, plural, t } from "../../../i18n/translate.ts";
import {
  IconChevronDown,
  IconChevronRight,
  IconCode,
  IconDownload,
  IconPhoto,
  IconSearch,
  IconShieldCheck,
  IconTool,
} from "../../../icons.tsx";
import type { Citation, ServiceCall } from "./service-tools.ts";

const KINDS: Readonly<Record<string, { title: Message; icon: typeof IconTool }>> = {
  file_search_call: { title: msg("Searched documents"), icon: IconSearch },
  web_search_call: { title: msg("Searched the web"), icon: IconSearch },
  mcp_call: { title: msg("Called a tool"), icon: IconTool },
  mcp_approval_request: { title: msg("Asked to call a tool"), icon: IconShieldCheck },
  code_interpreter_call: { title: msg("Ran Python"), icon: IconCode },
  image_generation_call: { title: msg("Made an image"), icon: IconPhoto },
};

/** Calls of tools, with what they returned. */
export function ServiceCalls({ calls }: { calls: readonly ServiceCall[] }) {
  return calls.map((call) => <CallCard key={call.id} call={call} />);
}

function CallCard({ call }: { call: ServiceCall }) {
  const { type, status, queries, results, error, mcp, input = "", images = [] } = call;
  const [isOpen, { toggle }] = useDisclosure(false);
  const { title, icon: Icon } = KINDS[type] ?? { title: undefined, icon: IconTool };
  const isRunning = status !== "completed" && status !== "failed" && status !== "incomplete";
  const texts = results.filter(({ title: name, text }) => name !== "" || text !== "");
  const summary = mcp === undefined ? queries.join(" · ") : `${mcp.server} / ${mcp.tool}`;
  const hasDetails = texts.length > 0 || input !== "";
  return (
    <Card padding="xs">
      <Group gap={6} wrap="nowrap">
        {isRunning ? <Loader size={15} /> : <Icon size={15} />}
        <Text size="sm" fw={600} miw="max-content">
          {title === undefined ? type : t(title)}
        </Text>
        <Text size="sm" c="dimmed" flex={1} className="wrap-anywhere">
          {summary}
        </Text>
        {status === "failed" && (
          <Badge color="red" variant="light">
            {t("Failed")}
          </Badge>
        )}
        {hasDetails && <DetailsButton call={call} count={texts.length} isOpen={isOpen} onClick={toggle} />}
      </Group>
      {error !== undefined && (
        <Text size="xs" className="wrap-anywhere">
          {error}
        </Text>
      )}
      {images.map((url, index) => (
        <MadeImage key={url} url={url} alt={queries[0] ?? t("Image {{number}}", { number: index + 1 })} />
      ))}
      <Collapse expanded={isOpen}>
        <Stack gap="xs" mt="xs">
          {input !== "" && (
            <Section title={type === "code_interpreter_call" ? t("Code") : t("Arguments")}>
              <JsonBlock text={input} label={t("Copy")} />
            </Section>
          )}
          {isSearch(call) ? <Matches results={texts} /> : <Output texts={texts} />}
        </Stack>
      </Collapse>
    </Card>
  );
}

function isSearch({ type }: ServiceCall): boolean {
  return type === "file_search_call" || type === "web_search_call";
}

interface DetailsButtonProps {
  call: ServiceCall;
  count: number;
  isOpen: boolean;
  onClick: () => void;
}

function DetailsButton({ call, count, isOpen, onClick }: DetailsButtonProps) {
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <Button
      variant="transparent"
      size="compact-xs"
      px={0}
      miw="max-content"
      aria-expanded={isOpen}
      leftSection={<Chevron size={14} />}
      onClick={onClick}
    >
      {isSearch(call) ? plural(count, "{{count}} result", "{{count}} results") : t("Details")}
    </Button>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed" mb={2}>
        {title}
      </Text>
      {children}
    </div>
  );
}

function Output({ texts }: { texts: ServiceCall["results"] }) {
  return texts.map(({ text }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a result do not move
    <Section key={index} title={t("Result")}>
      <JsonBlock text={text} label={t("Copy the result")} />
    </Section>
  ));
}

function Matches({ results }: { results: ServiceCall["results"] }) {
  return results.map(({ title, text, score }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: several chunks of one file may match
    <div key={index}>
      <Text size="xs" fw={600} className="wrap-anywhere">
        {title}
        {score !== undefined && ` (${formatFixed(score, 3)})`}
      </Text>
      <Text size="xs" className="wrap-anywhere" style={{ whiteSpace: "pre-wrap" }} lineClamp={8}>
        {text}
      </Text>
    </div>
  ));
}

function MadeImage({ url, alt }: { url: string; alt: string }) {
  const extension = /^data:image\/(\w+)/.exec(url)?.[1] ?? "png";
  return (
    <Stack gap={4} mt="xs" align="flex-start">
      <Image src={url} alt={alt} radius="md" w="auto" maw="100%" mah={512} />
      <Anchor href={url} download={`image.${extension}`} size="xs">
        <Group gap={4} component="span">
          <IconDownload size={13} />
          {t("Download the image")}
        </Group>
      </Anchor>
    </Stack>
  );
}

/** Sources of an answer and files that it made, below it. */
export function Citations({ citations }: { citations: readonly Citation[] }) {
  const files = citations.filter(({ isDownload }) => isDownload);
  const sources = citations.filter(({ isDownload }) => !isDownload);
  return (
    <>
      {files.length > 0 && (
        <Group gap="xs" component="section" aria-label={t("Files")}>
          {files.map(({ title, url = "" }) => (
            <Button
              key={url}
              component="a"
              href={url}
              download={title}
              variant="default"
              size="xs"
              leftSection={<IconDownload size={14} />}
            >
              {title}
            </Button>
          ))}
        </Group>
      )}
      {sources.length > 0 && (
        <Group gap="xs" component="section" aria-label={t("Sources")}>
          <Text size="xs" c="dimmed">
            {t("Sources")}
          </Text>
          {sources.map(({ title, url }, index) =>
            url === undefined ? (
              <Badge key={title} variant="light" tt="none">
                {index + 1}. {title}
              </Badge>
            ) : (
              <Anchor key={url} href={url} target="_blank" rel="noreferrer" size="xs" className="wrap-anywhere">
                {index + 1}. {title}
              </Anchor>
            ),
          )}
        </Group>
      )}
    </>
  );
}
