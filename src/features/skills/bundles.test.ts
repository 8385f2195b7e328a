import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { manifest, type ZipEntry, zipOf } from "../../../test/support/skills/zip-entries.ts";
import { packBundle, unpackBundle } from "./bundles.ts";

const MEGABYTE = 1024 ** 2;
let folder: string;
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bundles-"));
});
afterAll(() => rm(folder, { recursive: true }));

const projectId = "proj_a";
const pack = (source: Parameters<typeof packBundle>[0]) =>
  packBundle(source, join(folder, `${count++}.zip`), { projectId });
const unpacking = { maxBytes: MEGABYTE, param: "skills", projectId };
const packZip = (entries: readonly ZipEntry[]) => pack({ zip: zipOf(entries) });
const skill: ZipEntry = { name: "csv/SKILL.md", content: manifest("csv") };

test("packs a zip archive, whose files it reads again without their folder", async () => {
  const script = { name: "csv/scripts/read.py", content: "print(1)", mode: 0o100755 };
  const system = [{ name: "__MACOSX/csv/._SKILL.md" }, { name: "csv/.DS_Store" }, { name: "csv/", mode: 0o040755 }];
  const destination = join(folder, "packed.zip");
  const packed = await packBundle({ zip: zipOf([...system, skill, script]) }, destination, { projectId });
  expect(packed).toMatchObject({ name: "csv", description: "Reads tables." });
  const { files } = await unpackBundle(() => destination, unpacking);
  expect(files.map(({ path, content }) => [path, Buffer.from(content).toString()])).toEqual([
    ["SKILL.md", manifest("csv")],
    ["scripts/read.py", "print(1)"],
  ]);
});

test("packs files of a folder, with SKILL.md at the top, to the same bytes each time", async () => {
  const place = join(folder, "a.txt");
  await writeFile(place, manifest("notes"));
  const files = [
    { name: "./skill.md", path: place },
    { name: "sub/SKILL.md", path: place },
  ];
  const [one, other] = [await pack({ files }), await pack({ files })];
  expect(one).toEqual(other);
  const { files: unpacked } = await unpackBundle(() => join(folder, `${count - 1}.zip`), unpacking);
  expect(unpacked.map(({ path }) => path)).toEqual(["SKILL.md", "sub/SKILL.md"]);
});

test("has one bundle of a project in memory at a time, beside those of others", async () => {
  const zip = zipOf([skill]);
  let begun = 0;
  let ended = 0;
  const read = async () => {
    begun += 1;
    await setImmediate();
    expect(begun).toBe(ended + 1);
    return zip;
  };
  const unpack = async () => {
    await unpackBundle(read, unpacking);
    ended += 1;
  };
  const { promise: never } = Promise.withResolvers<Buffer>();
  void unpackBundle(() => never, { ...unpacking, projectId: "proj_b" });
  await Promise.all(Array.from({ length: 5 }, unpack));
  expect(ended).toBe(5);
});

const bytesOf = (size: number) => Buffer.alloc(size);
const HOSTILE: readonly [what: string, entries: readonly ZipEntry[], message: RegExp][] = [
  ["a path upward", [skill, { name: "csv/../../etc/passwd" }], /invalid relative path/],
  ["an absolute path", [skill, { name: "/etc/passwd" }], /absolute path/],
  ["a path with a drive", [skill, { name: "C:/a" }], /absolute path/],
  ["a backslash", [skill, { name: "csv\\a" }], /invalid characters/],
  ["a control character", [skill, { name: "csv/\u001b[2J" }], /forbidden characters/],
  ["an empty segment", [skill, { name: "csv//a" }], /segment that is empty/],
  ["a long path", [skill, { name: `csv/${"a".repeat(300)}` }], /more than 255 bytes/],
  ["a symbolic link", [skill, { name: "csv/a", content: "/etc/passwd", mode: 0o120777 }], /is a link/],
  ["a device", [skill, { name: "csv/a", mode: 0o020666 }], /is a link/],
  ["a link that looks like a folder", [skill, { name: "csv/a/", mode: 0o120777 }], /is a link/],
  ["an encrypted file", [skill, { name: "csv/a", flags: 1 }], /is encrypted/],
  ["a name twice", [skill, { name: "csv/a" }, { name: "csv/a" }], /is there twice/],
  ["a name in two cases", [skill, { name: "csv/Skill.md" }], /is there twice/],
  ["a file that is a folder", [skill, { name: "csv/a" }, { name: "csv/a/b" }], /is there twice/],
  ["a folder that is a file", [skill, { name: "csv/a/b" }, { name: "csv/a" }], /is there twice/],
  ["two folders", [skill, { name: "other/a" }], /no SKILL\.md/],
  ["no SKILL.md", [{ name: "csv/a" }], /no SKILL\.md/],
  ["no files", [], /no SKILL\.md/],
  ["too many files", [skill, ...Array.from({ length: 500 }, (_, index) => ({ name: `csv/${index}` }))], /at most 500/],
  ["too many entries", Array.from({ length: 2_001 }, (_, index) => ({ name: `${index}/` })), /2000 entries/],
  ["a large file", [skill, { name: "csv/a", content: bytesOf(25 * MEGABYTE + 1) }], /more than 25 MB/],
  [
    "large files",
    [skill, ...["a", "b", "c", "d", "e"].map((name) => ({ name: `csv/${name}`, content: bytesOf(24 * MEGABYTE) }))],
    /more than 100 MB together/,
  ],
  [
    "a size that is not true",
    [skill, { name: "csv/a", content: bytesOf(MEGABYTE), declaredBytes: 10 }],
    /too many bytes/,
  ],
];

test.each(HOSTILE)("refuses an archive with %s", async (_, entries, message) => {
  await expect(packZip(entries)).rejects.toThrow(message);
});

test("refuses what is no archive", async () => {
  await expect(pack({ zip: Buffer.from("no zip") })).rejects.toThrow(/cannot be read/);
});

describe("front matter", () => {
  const invalid: readonly [what: string, text: string | Buffer, message: RegExp][] = [
    ["is missing", "# Tables", /no front matter/],
    ["does not end", `---\nname: a\n${"x".repeat(20_000)}`, /no front matter/],
    ["has no name", "---\ndescription: x\n---\n", /no 'name'/],
    ["has no description", "---\nname: a\n---\n", /no 'description'/],
    ["has an empty description", "---\nname: a\ndescription: ' '\n---\n", /no 'description'/],
    ["has a long description", manifest("a", "x".repeat(1_025)), /has 1025 characters/],
    ["has a NUL", '---\nname: a\ndescription: "a\\0"\n---\n', /control characters/],
    ["has half a character", '---\nname: a\ndescription: "\\uD800"\n---\n', /control characters/],
    ["has a name with a path", manifest("../a"), /not valid/],
    ["has a long name", manifest("a".repeat(65)), /not valid/],
    ["has a list", "---\n- name\n---\n", /no fields/],
    ["has a name that is a list", "---\nname: [a]\ndescription: x\n---\n", /no 'name'/],
    ["is no YAML", "---\nname: [\n---\n", /not valid YAML/],
    ["has an alias", "---\na: &a [x, x]\nname: *a\ndescription: x\n---\n", /not valid YAML/],
    ["nests deeply", `---\nname: ${"[".repeat(15_000)}\n---\n`, /not valid YAML/],
    ["is not UTF-8", Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe]), /not UTF-8/],
  ];
  test.each(invalid)("is refused where it %s", async (_, content, message) => {
    await expect(packZip([{ name: "SKILL.md", content }])).rejects.toThrow(message);
  });

  test("takes a number as a name, and other fields", async () => {
    const content = "\uFEFF---\r\nname: 123\r\nlicense: MIT\r\ndescription: |\r\n  Two\r\n  lines\r\n---\r\nText";
    expect(await packZip([{ name: "SKILL.md", content }])).toMatchObject({ name: "123", description: "Two\nlines" });
  });
});
