import { readdirSync, readFileSync } from "node:fs";

export interface RecordedAnswer {
  /** Recording, exchange and, in streams, the event's number. */
  title: string;
  method: string;
  path: string;
  status: string;
  mediaType: string;
  /** Whether it is an event of a stream, or a line of one. */
  isEvent: boolean;
  json: string;
}

const FOLDER = new URL("../../wire/recordings/", import.meta.url);

/** Reads the JSON of answers from the recordings, one entry per event or line of a stream. */
export function recordedAnswers(): RecordedAnswer[] {
  return readdirSync(FOLDER).flatMap((file) =>
    readFileSync(new URL(file, FOLDER), "utf8")
      // The digits of a number look like an ID.
      .replaceAll(/(?<=\d\.)ID\d+/g, "0")
      .replaceAll(/\[\d+ numbers\]/g, "[0]")
      .split(/^## /m)
      .flatMap((exchange) => answersOf(file, exchange)),
  );
}

const STREAMS: Readonly<Record<string, (body: readonly string[]) => string[]>> = {
  "text/event-stream": (body) =>
    body.filter((line) => line.startsWith("data: {")).map((line) => line.slice("data: ".length)),
  "application/x-ndjson": (body) => body.filter((line) => line.startsWith("{")),
};

function answersOf(file: string, exchange: string): RecordedAnswer[] {
  const [title = "", route = "", , status = "", ...rest] = exchange.split("\n");
  if (!/^\d{3}$/.test(status)) return [];
  const [method = "", address = ""] = route.split(" ");
  const [headers = [], body = []] = [rest.slice(0, rest.indexOf("")), rest.slice(rest.indexOf("") + 1)];
  const type = headers.find((line) => line.startsWith("content-type: ")) ?? "";
  const mediaType = type.replace(/^content-type: ([^;]*).*/, "$1");
  const base = { method, path: address.replace(/\?.*/, ""), status, mediaType };
  const parts = STREAMS[mediaType]?.(body);
  if (parts !== undefined) {
    return parts.map((json, index) => ({
      ...base,
      title: `${file}: ${title}: event ${index + 1}`,
      isEvent: true,
      json,
    }));
  }
  const json = body.join("\n").trim();
  return /json$/.test(mediaType) && /^\{.*\}$/.test(json)
    ? [{ ...base, title: `${file}: ${title}`, isEvent: false, json }]
    : [];
}
