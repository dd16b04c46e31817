import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readTar } from '../tar/read-tar.js';
import { imageArchive } from './image-archive.js';
import { ImageLayout } from './image-layout.js';
import { MEDIA_TYPE } from './media-types.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-archive-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** A layout with one image, which has a list of contents beside it. */
async function writeLayout(name: string): Promise<string> {
  const layout = await ImageLayout.create(join(folder, name));
  const config = await layout.addJson(MEDIA_TYPE.config, { name });
  const layers = [
    await layout.addBlob(MEDIA_TYPE.layer, Buffer.from('shared')),
    await layout.addBlob(MEDIA_TYPE.layer, Buffer.from(name)),
  ];
  const manifest = await layout.addJson(MEDIA_TYPE.manifest, { config, layers });
  const referrer = await layout.addJson(MEDIA_TYPE.manifest, {
    config: await layout.addBlob(MEDIA_TYPE.empty, Buffer.from('{}')),
  });
  const index = await layout.addJson(MEDIA_TYPE.index, { manifests: [manifest] });
  await layout.finish(index, { name: '1.0.0', fullName: `registry.example.com/${name}:1.0.0`, referrers: [referrer] });
  return join(folder, name);
}

it('an archive has each image under its full name, every blob that it needs once, and nothing else', async () => {
  const layouts = [await writeLayout('agent'), await writeLayout('controller')];
  const entries = readTar(await imageArchive(layouts)).filter(({ type }) => type === '0');
  const files = new Map(entries.map(({ path, content }) => [path, content.toString('utf8')]));
  const { manifests } = JSON.parse(files.get('index.json') ?? '') as {
    readonly manifests: readonly { readonly annotations: Readonly<Record<string, string>> }[];
  };
  expect(manifests.map(({ annotations }) => annotations['io.containerd.image.name'])).toEqual([
    'registry.example.com/agent:1.0.0',
    'registry.example.com/controller:1.0.0',
  ]);
  expect([...files.values()].filter((content) => content === 'shared')).toHaveLength(1);
  // Two files of the layout; for each image an index, a manifest, a configuration and a layer; the layer that they share.
  expect(entries).toHaveLength(2 + 2 * 4 + 1);
});
