/** The archive of both images, imported into a real containerd as `kind load image-archive` and `k3s ctr images import` do. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { has, LabProcess, needs, run, waitFor } from '@vmdhcp/lab';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { ROOT } from './build-images.js';

/** What README has people type on a node. */
const [README_WORDS = ''] = /\bctr images import (\S+)/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];
/** What kind gives to ctr; everything that the archive names is unpacked. */
const KIND = ['--all-platforms', '--digests'];

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-containerd-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the archive of the images', () => {
  it.runIf(has('containerd', 'ctr'))(
    `gives containerd every image that the manifest names, with no registry ${needs('containerd')}`,
    { timeout: 120_000 },
    async () => {
      const socket = join(folder, 'containerd.sock');
      const config = join(folder, 'config.toml');
      writeFileSync(
        config,
        `version = 2\nroot = "${folder}/root"\nstate = "${folder}/state"\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n[grpc]\naddress = "${socket}"\n`,
      );
      const answers = async () => (await new LabProcess('ctr', ['-a', socket, 'version']).ended()).code === 0;
      const containerd = new LabProcess('containerd', ['-c', config]);
      const ctr = (...words: readonly string[]) => run('ctr', ['-a', socket, '-n', 'k8s.io', ...words]);
      try {
        await waitFor('containerd', answers, 30_000);
        expect(README_WORDS).toBe('ctr images import .vmdhcp/images/images.tar');
        // overlayfs, which is the default, does not work on every file system of a machine for tests.
        for (const options of [[], KIND])
          ctr('images', 'import', '--snapshotter', 'native', ...options, join(inject('layouts'), 'images.tar'));
        const known = ctr('images', 'list', '--quiet').split('\n');
        const manifest = readFileSync(join(ROOT, 'manifests/vmdhcp.yaml'), 'utf8');
        const named = new Set(manifest.match(/ghcr\.io\/[\w./-]+:[\w.-]+/g));
        expect(named.size).toBe(2);
        for (const name of named) expect(known).toContain(name);
      } finally {
        await containerd.stop();
      }
    },
  );
});
