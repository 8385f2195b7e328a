import { readdirSync, readFileSync } from "node:fs";

export interface RecordedAnswer {
  /** Recording, exchange and, in streams, the event's number. */
  title: string;
  method: string;
  path: string;
  isEvent: boolean;
  json: string;
}

const FOLDER = new URL("../../wire/recordings/", import.meta.url);

/** Reads the JSON of successful answers from the recordings, one entry per event of a stream. */
export function recordedAnswers(): RecordedAnswer[] {
  return readdirSync(FOLDER).flatMap((file) =>
    readFileSync(new URL(file, FOLDER), "utf8")
      .split(/^## /m)
      .flatMap((exchange) => answersOf(file, exchange)),
  );
}

function answersOf(file: string, exchange: string): RecordedAnswer[] {
  const [title = "", route = "", , status = "", ...rest] = exchange.split("\n");
  if (!status.startsWith("2")) return [];
  const [method = "", address = ""] = route.split(" ");
  const path = address.replace(/\?.*/, "");
  const body = rest.slice(rest.indexOf("") + 1);
  const events = body.filter((line) => line.startsWith("data: {")).map((line) => line.slice("data: ".length));
  const base = { method, path };
  if (events.length > 0) {
    return events.map((json, index) => ({
      ...base,
      title: `${file}: ${title}: event ${index + 1}`,
      isEvent: true,
      json,
    }));
  }
  const json = body.join("\n").trim();
  return /^\{.*\}$/.test(json) ? [{ ...base, title: `${file}: ${title}`, isEvent: false, json }] : [];
}
