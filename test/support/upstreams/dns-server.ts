/** A DNS server on loopback whose records tests change while it runs. */

import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet } from "dns-packet";

export interface DnsServer {
  /** Address for a list of name servers. */
  address: string;
  /** Records by name; a name without an entry does not exist. */
  records: Map<string, Answer[]>;
  /** Response code of every answer, such as SERVFAIL; undefined: as the records say. `silent`: no answer. */
  failure: "SERVFAIL" | "REFUSED" | "silent" | undefined;
  /** Names of the queries so far. */
  queries: string[];
  close(): Promise<void>;
}

const RESPONSE_CODES = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };

export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const server: DnsServer = {
    address: "",
    records: new Map(),
    failure: undefined,
    queries: [],
    close: async () => {
      socket.close();
      await once(socket, "close");
    },
  };
  socket.on("message", (message, { port, address }) => {
    const query = decode(message);
    const [question] = query.questions ?? [];
    if (question === undefined || server.failure === "silent") return;
    server.queries.push(question.name);
    const records = server.records.get(question.name);
    const code = server.failure ?? (records === undefined ? "NXDOMAIN" : undefined);
    const answer: Packet = {
      type: "response",
      id: query.id,
      flags: AUTHORITATIVE_ANSWER | (code === undefined ? 0 : RESPONSE_CODES[code]),
      questions: [question],
      answers: code === undefined ? records?.filter(({ type }) => type === question.type) : [],
    };
    socket.send(encode(answer), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  server.address = `127.0.0.1:${socket.address().port}`;
  return server;
}

/** A records of `name`. */
export function aRecords(name: string, addresses: readonly string[], ttl = 1): Answer[] {
  return addresses.map((data) => ({ type: "A", name, ttl, data }));
}
