/** Ends TLS before a service, for clients that connect to `wss:` only. Needs the `openssl` command. */

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";

export interface TlsProxy {
  /** URL such as `https://127.0.0.1:4443`, whose certificate is self-signed. */
  origin: string;
  close(): void;
}

export async function startTlsProxy(origin: string): Promise<TlsProxy> {
  const directory = mkdtempSync(join(tmpdir(), "parlance-tls-"));
  const [key, certificate] = [join(directory, "key.pem"), join(directory, "certificate.pem")];
  const given = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"];
  execFileSync("openssl", [...given, "-keyout", key, "-out", certificate], { stdio: "ignore" });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (socket) => {
    const target = connect(Number(new URL(origin).port), "127.0.0.1");
    for (const each of [socket, target]) {
      each.on("error", () => {
        socket.destroy();
        target.destroy();
      });
    }
    socket.pipe(target).pipe(socket);
  });
  rmSync(directory, { recursive: true });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { origin: `https://127.0.0.1:${port}`, close: () => server.close() };
}
