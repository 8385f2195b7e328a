import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Writes a certificate authority (`ca.pem`), and certificates of a server on 127.0.0.1 and of a client. */
export async function makeCertificates(directory: string): Promise<void> {
  const openssl = (words: readonly string[]) => run("openssl", [...words], { cwd: directory });
  const days = ["-days", "2"];
  const key = ["-newkey", "rsa:2048", "-nodes"];
  await openssl(["req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test CA", ...days]);
  writeFileSync(join(directory, "server.ext"), "subjectAltName=IP:127.0.0.1\n");
  writeFileSync(join(directory, "client.ext"), "extendedKeyUsage=clientAuth\n");
  for (const name of ["server", "client"]) {
    await openssl(["req", ...key, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${name}`]);
    const authority = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", `${name}.ext`];
    await openssl(["x509", "-req", "-in", `${name}.csr`, "-out", `${name}.pem`, ...authority, ...days]);
  }
}
