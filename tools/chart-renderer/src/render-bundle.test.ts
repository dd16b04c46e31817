/** bundle/: what the tools of OLM say about it, each rule tried by a fault, and that it follows the chart. Whether its permissions suffice: tools/lab/tests/bundle.cluster.test.ts. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleProblems } from './bundle-problems.js';
import { renderBundle } from './render-bundle.js';
import { CHART } from './render-chart.js';
import { hasRenderer, NEEDS_RENDERER, rendererProgram } from './renderer-program.js';

const BUNDLE = join(CHART, '../../bundle');
const read = (path: string) => readFileSync(join(BUNDLE, path), 'utf8');
const committed = new Map(
  globSync('**/*', { cwd: BUNDLE, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name).slice(BUNDLE.length + 1))
    .toSorted()
    .map((path) => [path, read(path)]),
);
const VERSION = 'manifests/vmdhcp.clusterserviceversion.yaml';
const ANNOTATIONS = 'metadata/annotations.yaml';
/** Before the first release. */
const NOT_RELEASED = 'spec.version: OperatorHub takes 0.0.0 for a version that is not set';
const problemsOf = (files: ReadonlyMap<string, string>) => bundleProblems(files).filter((one) => one !== NOT_RELEASED);

describe('the bundle for OLM', () => {
  it('breaks none of the rules of OLM and of OperatorHub, except that version 0.0.0 is not released', () => {
    const isReleased = !read(VERSION).includes('  version: 0.0.0\n');
    expect(bundleProblems(committed)).toEqual(isReleased ? [] : [NOT_RELEASED]);
  });

  it.each<[what: string, path: string, from: string, to: string, sentence: string]>([
    ['another media type', ANNOTATIONS, 'registry+v1', 'plain+v0', 'mediatype'],
    ['another folder of manifests', ANNOTATIONS, 'v1: manifests/', 'v1: objects/', 'manifests must be'],
    ['another folder of metadata', ANNOTATIONS, 'v1: metadata/', 'v1: data/', 'metadata must be'],
    ['no package', ANNOTATIONS, 'package.v1: vmdhcp', 'package.v1: ""', 'package is missing'],
    ['a channel of another name', ANNOTATIONS, 'channels.v1: stable', 'channels.v1: beta', 'channels begin with'],
    ['another default channel', ANNOTATIONS, 'default.v1: stable', 'default.v1: fast', 'none of the channels'],
    ['a label of the image that differs', 'bundle.Dockerfile', 'package.v1=vmdhcp', 'package.v1=dhcp', 'its labels'],
    [
      'a kind that OLM cannot install',
      'manifests/vm-dhcp-webhook_v1_service.yaml',
      'kind: Service',
      'kind: Namespace',
      'Namespace vm-dhcp-webhook: OLM installs',
    ],
    [
      'a ServiceAccount that OLM creates',
      'manifests/vm-dhcp-webhook_v1_service.yaml',
      'kind: Service',
      'kind: ServiceAccount',
      'OLM creates it',
    ],
    [
      'a budget that stops drains',
      'manifests/vm-dhcp-webhook_policy_v1_poddisruptionbudget.yaml',
      'maxUnavailable: 1',
      'maxUnavailable: 0',
      'must not be 0',
    ],
    [
      'an object in another namespace',
      'manifests/vm-dhcp-webhook_v1_service.yaml',
      'metadata:\n',
      'metadata:\n  namespace: x\n',
      'its namespace',
    ],
    ['a definition that is not there', VERSION, 'name: ippools.network', 'name: pools.network', 'no such definition'],
    ['a definition that is not owned', VERSION, 'name: ippools.network', 'name: pools.network', 'does not own it'],
    [
      'another version of a definition',
      VERSION,
      'version: v1alpha1\n        kind: IPPool',
      'version: v1\n        kind: IPPool',
      'no such definition',
    ],
    [
      'an empty description',
      VERSION,
      'description: The addresses of a network, and the options that its clients get.',
      'description: ""',
      'the description is empty',
    ],
    ['an example of another kind', VERSION, '"kind": "IPPool"', '"kind": "Pool"', 'Pool is not owned'],
    [
      'a kind without an example',
      VERSION,
      '"kind": "IPPool"',
      '"kind": "Pool"',
      'there is no network.harvesterhci.io/v1alpha1 IPPool',
    ],
    ['a name without a version', VERSION, 'name: vmdhcp.v', 'name: vmdhcp-', 'PACKAGE.vVERSION'],
    ['the name of another version', VERSION, 'name: vmdhcp.v', 'name: vmdhcp.v9', 'is not that of version'],
    ['a version that is none', VERSION, '\n  version: ', '\n  version: v', 'is not a semantic version'],
    ['a level that is none', VERSION, 'capabilities: Seamless', 'capabilities: Great', 'is not a level'],
    ['a category that is none', VERSION, 'categories: Networking', 'categories: Addresses', 'is not a category'],
    ['upgrades from some versions only', VERSION, 'olm.skipRange: <', 'olm.skipRange: ">=1.0.0"\n    other: <', 'be upgraded'],
    [
      'properties as an annotation',
      VERSION,
      'capabilities:',
      'olm.properties: "[]"\n    capabilities:',
      'metadata/properties.yaml',
    ],
    ['no image to show', VERSION, 'containerImage:', 'image:', 'containerImage is missing'],
    ['no provider', VERSION, 'name: The vmdhcp authors', 'name: " "', 'provider.name'],
    ['a link that leads nowhere', VERSION, '- name: Source\n      url: https', '- name: Source\n      url: //', 'spec.links'],
    ['a picture of another type', VERSION, 'image/svg+xml', 'text/html', 'spec.icon'],
    ['a lowest Kubernetes that is none', VERSION, 'minKubeVersion: 1.28.0', 'minKubeVersion: "1.28"', 'spec.minKubeVersion'],
    ['another strategy', VERSION, 'strategy: deployment', 'strategy: helm', 'must be deployment'],
    ['a mode twice', VERSION, 'type: MultiNamespace', 'type: OwnNamespace', 'each mode'],
    ['no mode', VERSION, 'supported: true', 'supported: false', 'no mode'],
    [
      'all namespaces, which would spread its permissions',
      VERSION,
      'AllNamespaces\n      supported: false',
      'AllNamespaces\n      supported: true',
      'in all namespaces',
    ],
    [
      'a ServiceAccount without permissions',
      VERSION,
      'serviceAccountName: vm-dhcp-webhook\n                priority',
      'serviceAccountName: other\n                priority',
      'without permissions',
    ],
    ['a container without requests', VERSION, 'cpu: 50m', 'ephemeral-storage: 1Mi', 'requests no processor time'],
    [
      'the right to write definitions',
      VERSION,
      'virtualmachinenetworkconfigs.network.harvesterhci.io\n              verbs:\n                - get',
      'x\n              verbs:\n                - create',
      'belong to OLM',
    ],
    [
      'the right to change constraints',
      VERSION,
      '- nonroot-v2\n              verbs:\n                - use',
      '- nonroot-v2\n              verbs:\n                - update',
      'may change constraints',
    ],
    ['an image that is not listed', VERSION, '- name: agent\n      image: ', '- name: agent\n      image: x', 'vmdhcp-agent:'],
  ])('the rules find %s', (_, path, from, to, sentence) => {
    const text = read(path);
    const faulty = text.replace(from, to);
    expect(faulty).not.toBe(text);
    expect(problemsOf(new Map([...committed, [path, faulty]])).join('\n')).toContain(sentence);
  });

  it('the rules find two versions in one bundle, and one that is too large', () => {
    expect(problemsOf(new Map([...committed, ['manifests/other.yaml', read(VERSION)]])).join()).toContain('there must be one');
    const noise = Array.from({ length: 400_000 }, (_, at) => Math.sin(at).toString(36)).join('');
    expect(problemsOf(new Map([...committed, ['noise', noise]])).join()).toContain('octets when it is compressed');
  });

  describe.skipIf(!hasRenderer())(`follows the chart ${NEEDS_RENDERER}`, () => {
    beforeAll(() => void rendererProgram(), 180_000);

    it('bundle/ is what `npm run generate` writes, and nothing else', () => {
      const rendered = renderBundle();
      expect([...committed.keys()]).toEqual([...rendered.keys()].toSorted());
      for (const [path, text] of rendered) expect(committed.get(path), path).toBe(text);
    });
  });
});
