/**
 * The commands of docs/install.md that give the definitions to Helm, which then refuses none of them: what it asks of an object that it did not create.
 * Always against a simulated API server, whatever KUBECONFIG names.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toCustomResourceDefinition, wolConfigResource } from '@vmdhcp/ippool-api';
import { bareMetalResources } from '@vmdhcp/ippool-api/bare-metal';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTROLLER_BIN, has, LabProcess, needs, PrivateCluster } from '../src/index.js';

const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-definitions-'));
let cluster: PrivateCluster;

beforeAll(async () => {
  cluster = await PrivateCluster.start([]);
  await cluster.defineKinds();
  for (const one of [wolConfigResource, ...bareMetalResources])
    await cluster.admin.create(toCustomResourceDefinition(one) as unknown as KubernetesObject);
});

afterAll(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true });
});

function documentedCommands(): readonly string[] {
  const page = readFileSync(new URL('../../../docs/install.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('\n### Give the definitions to Helm\n');
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? [];
  return block.split('\n').filter(Boolean);
}

/** Helm refuses to take an object into a release that lacks one of these. */
function lacks({ metadata: { labels = {}, annotations = {} } }: KubernetesObject): boolean {
  const release = [annotations['meta.helm.sh/release-name'], annotations['meta.helm.sh/release-namespace']];
  return labels['app.kubernetes.io/managed-by'] !== 'Helm' || release.join() !== 'vmdhcp,vm-dhcp-system';
}

describe.skipIf(!has('kubectl'))(`definitions that the controller applied ${needs('kubectl')}`, () => {
  it('become those of the release by the documented commands, each of them', async () => {
    const before = await cluster.admin.list('CustomResourceDefinition');
    expect([before.length, before.filter(lacks).length]).toEqual([8, 8]);
    const commands = documentedCommands().map((line) =>
      line.replace('vmdhcp-controller', `'${process.execPath}' '${CONTROLLER_BIN}'`),
    );
    const shell = new LabProcess('sh', ['-ec', [`cd '${folder}'`, ...commands].join('\n')], {
      env: { KUBECONFIG: cluster.adminKubeconfig, HOME: folder, PATH: process.env['PATH'] ?? '' },
    });
    const { code } = await shell.ended();
    expect(code, shell.lines.join('\n')).toBe(0);
    const left = (await cluster.admin.list('CustomResourceDefinition')).filter(lacks);
    expect(left.map(({ metadata }) => metadata.name)).toEqual([]);
  });
});
