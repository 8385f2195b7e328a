/** Refusals of addresses and files that are not read for callers. */

import { type Fault, invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { DownloadFailed } from "../../kernel/outgoing/download.ts";
import { AddressRefused } from "../../kernel/outgoing/outgoing-guard.ts";

const SHOWN_CHARACTERS = 200;

export function rethrowFor(url: string, param: string): (failure: unknown) => never {
  return (failure) => {
    const shown = shorten(url);
    if (failure instanceof AddressRefused) {
      const message = `'${shown}' is not an address of the internet: ${failure.message}. Send the content itself, as a data: URL or an uploaded file.`;
      throw invalidRequest(message, param, "invalid_url");
    }
    if (!(failure instanceof DownloadFailed)) throw failure;
    const message = `'${shown}' could not be fetched: ${failure.message}. Send the content itself, as a data: URL or an uploaded file.`;
    throw invalidRequest(message, param, "invalid_url");
  };
}

export function shorten(url: string): string {
  return url.length <= SHOWN_CHARACTERS ? url : `${url.slice(0, SHOWN_CHARACTERS)}…`;
}

export function serversRefused(param: string): Fault {
  const message =
    "This service calls no servers at addresses of callers. An operator adds servers to 'mcp_servers'; name such a server without its address.";
  return unsupportedValue(message, param);
}

export function urlsRefused(param: string): Fault {
  const message =
    "This service accepts no addresses of content. Send the content itself, as a data: URL or an uploaded file.";
  return unsupportedValue(message, param);
}

export function opaque(param: string): Fault {
  const message =
    "This service does not pass on addresses and files in this place. Send the content itself, or name it where the API's own fields have it.";
  return unsupportedValue(message, param);
}

export function tooSlow(timeoutMs: number): Fault {
  const message = `The addresses that the request names did not answer within ${timeoutMs / 1000} s. Send the content itself, as a data: URL or an uploaded file.`;
  return invalidRequest(message, undefined, "invalid_url");
}
