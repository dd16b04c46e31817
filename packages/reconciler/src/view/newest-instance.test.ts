import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { readNewestInstance } from './newest-instance.js';

const instance: KubernetesObject = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { namespace: 'lab', name: 'vm' },
};
const other: KubernetesObject = { ...instance, metadata: { namespace: 'lab', name: 'other' } };

/** Answers with one page after the other. */
function clientWith(pages: readonly (readonly KubernetesObject[])[]) {
  return () => ({
    list: async ({ continueToken = '0' }: { readonly continueToken?: string }) => {
      const number = Number(continueToken);
      const items = [...(pages[number] ?? [])];
      const next = number + 1 < pages.length ? { continueToken: String(number + 1) } : {};
      return { items, resourceVersion: '1', ...next };
    },
  });
}

it.each([
  ['on the first page', [[instance]], instance],
  ['on a page after one without objects', [[], [instance]], instance],
  ['beside another one, from a server that does not select', [[other], [other, instance]], instance],
  ['nowhere', [[], [other]], undefined],
])('the instance is %s', async (_where, pages, expected) => {
  expect(await readNewestInstance(clientWith(pages), 'lab/vm')).toBe(expected);
});
