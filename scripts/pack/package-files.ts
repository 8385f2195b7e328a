/**
 * Writes a Homebrew formula and an AUR PKGBUILD for the archives of a release: `npm run package-files -- --release FOLDER
 * --address URL`. FOLDER is what `npm run archive` wrote, URL where users will find it; they are written there.
 */

import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "./packed-manifest.ts";

/** Homebrew allows 80 characters. */
const SUMMARY = "Self-hosted inference service in the formats of OpenAI, Anthropic and Google";

interface Manifest {
  version: string;
  license: string;
}

interface Archive {
  url: string;
  sha256: string;
}

const { values } = parseArgs({ options: { release: { type: "string" }, address: { type: "string" } } });
if (values.release === undefined || !URL.canParse(values.address ?? ""))
  throw new Error(
    "Name the folder of the release and its address: --release ./release --address https://example.com/parlance",
  );
const release = resolve(process.env.INIT_CWD ?? ROOT, values.release);
const address = (values.address as string).replace(/\/$/, "");
const manifest = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as Manifest;
const sums = await readFile(join(release, "SHA256SUMS"), "utf8");

await write("parlance.rb", formula(manifest));
await write("PKGBUILD", pkgbuild(manifest));

/** Archive of a system, such as `linux-x64`; undefined when the release has none. */
function archiveOf(system: string): Archive | undefined {
  const name = `parlance-${manifest.version}-${system}.tar.gz`;
  const sha256 = sums
    .split("\n")
    .find((line) => line.endsWith(`  ${name}`))
    ?.slice(0, 64);
  return sha256 === undefined ? undefined : { url: `${address}/${name}`, sha256 };
}

/** See Homebrew's Formula Cookbook. The archive brings its own Node.js. */
function formula({ version, license }: Manifest): string {
  const blocks = [
    ["macos", "darwin"],
    ["linux", "linux"],
  ].flatMap(([name, system]) => {
    const processors = [
      ["intel", "x64"],
      ["arm", "arm64"],
    ].flatMap(([processor, arch]) => {
      const archive = archiveOf(`${system}-${arch}`);
      if (archive === undefined) return [];
      return [`    on_${processor} do`, `      url "${archive.url}"`, `      sha256 "${archive.sha256}"`, "    end"];
    });
    return processors.length === 0 ? [] : [`  on_${name} do`, ...processors, "  end"];
  });
  if (blocks.length === 0) throw new Error(`${release} has no archive of ${version}.`);
  return `class Parlance < Formula
  desc "${SUMMARY}"
  homepage "${address}"
  version "${version}"
  license "${license}"

${blocks.join("\n")}

  def install
    libexec.install Dir["*"]
    bin.install_symlink libexec/"bin/parlance"
  end

  service do
    run [opt_bin/"parlance", "serve"]
    keep_alive true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/parlance --version")
  end
end
`;
}

/** See PKGBUILD(5). */
function pkgbuild({ version, license }: Manifest): string {
  const sources = [
    ["x86_64", "x64"],
    ["aarch64", "arm64"],
  ].flatMap(([arch, processor]) => {
    const archive = archiveOf(`linux-${processor}`);
    return archive === undefined ? [] : [{ arch, ...archive }];
  });
  return `pkgname=parlance-bin
pkgver=${version}
pkgrel=1
pkgdesc="${SUMMARY}"
arch=(${sources.map(({ arch }) => arch).join(" ")})
url="${address}"
license=("${license}")
depends=(gcc-libs)
provides=(parlance)
conflicts=(parlance)
options=(!strip)
${sources.map(({ arch, url, sha256 }) => `source_${arch}=("${url}")\nsha256sums_${arch}=(${sha256})`).join("\n")}

package() {
  install -d "$pkgdir/opt" "$pkgdir/usr/bin"
  cp -r "$srcdir/parlance-$pkgver"-* "$pkgdir/opt/parlance"
  ln -s /opt/parlance/bin/parlance "$pkgdir/usr/bin/parlance"
  install -Dm644 "$pkgdir/opt/parlance/LICENSE" "$pkgdir/usr/share/licenses/$pkgname/LICENSE"
}
`;
}

async function write(name: string, text: string): Promise<void> {
  await writeFile(join(release, name), text);
  console.log(join(release, name));
}
