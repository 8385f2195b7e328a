/** An SMTP server that keeps what it accepts. */

import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

interface ReceivedMail {
  from: string;
  to: string;
  subject: string;
  messageId: string;
  body: string;
  isEncrypted: boolean;
  user: string | undefined;
}

export interface SmtpReceiver extends AsyncDisposable {
  port: number;
  /** What was accepted, in the order of arrival. */
  received: ReceivedMail[];
  /** Number of refused messages. */
  refusals: number;
  /** Replies to the next messages in place of their acceptance. */
  refuseWith(...codes: number[]): void;
}

export async function startSmtpReceiver(options: SMTPServerOptions = {}): Promise<SmtpReceiver> {
  let codes: number[] = [];
  const receiver: SmtpReceiver = {
    port: 0,
    received: [],
    refusals: 0,
    refuseWith: (...next) => {
      codes = next;
    },
    [Symbol.asyncDispose]: () => new Promise<void>((closed) => server.close(() => closed())),
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    logger: false,
    ...options,
    onData: (stream, session, done) => {
      text(stream).then((message) => {
        const code = codes.shift();
        if (code !== undefined) {
          receiver.refusals += 1;
          done(Object.assign(new Error("refused"), { responseCode: code }));
          return;
        }
        const { envelope, secure, user } = session;
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address).join(",");
        const known = { from, to, isEncrypted: secure, user: user as unknown as string | undefined };
        receiver.received.push({ ...parse(message), ...known });
        done();
      }, done);
    },
  });
  // A client that is killed resets its connection.
  server.on("error", () => {});
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  receiver.port = (server.server.address() as AddressInfo).port;
  return receiver;
}

function parse(message: string): Pick<ReceivedMail, "subject" | "messageId" | "body"> {
  const end = message.indexOf("\r\n\r\n");
  const headers = message.slice(0, end).replaceAll(/\r\n[ \t]+/g, " ");
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(headers)?.[1]?.trim() ?? "";
  const content = message.slice(end + 4).replaceAll("\r\n", "\n");
  const isQuoted = header("Content-Transfer-Encoding") === "quoted-printable";
  const body = isQuoted
    ? content
        .replaceAll("=\n", "")
        .replaceAll(/=([0-9A-F]{2})/g, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : content;
  return { subject: header("Subject"), messageId: header("Message-ID"), body };
}
