import { expect, it } from 'vitest';
import { unsecuredBy } from './unsecured-by.js';
import { readConfig } from './wol-config-fixtures.js';

const passwordSecret = { name: 'office', key: 'password' };
const mapping = (namespace: string, vmName: string) => ({ macAddress: '02:00:5e:10:00:01', namespace, vmName });
const explicit = (namespace: string, vmName: string) => ({
  discoveryMode: 'Explicit',
  explicitMappings: [mapping(namespace, vmName)],
});
const labelled = { discoveryMode: 'LabelSelector', vmSelector: { matchLabels: { wake: 'yes' } } };
type Spec = Readonly<Record<string, unknown>>;
const secured = (spec: Spec) => readConfig('secured', { ...spec, passwordSecret });

it.each<[string, Spec, Spec, boolean]>([
  ['all machines, and all machines', {}, {}, true],
  ['a mapping, and all machines', explicit('lab', 'vm-a'), {}, true],
  ['a mapping, and all machines of its namespace', explicit('lab', 'vm-a'), { namespaceSelectors: ['lab'] }, true],
  ['a mapping, and all machines of another namespace', explicit('lab', 'vm-a'), { namespaceSelectors: ['prod'] }, false],
  ['two namespaces', { namespaceSelectors: ['lab'] }, { namespaceSelectors: ['prod'] }, false],
  ['a namespace of both', { namespaceSelectors: ['lab', 'prod'] }, { namespaceSelectors: ['prod'] }, true],
  ['a mapping of both', explicit('lab', 'vm-a'), explicit('lab', 'vm-a'), true],
  ['mappings of two machines', explicit('lab', 'vm-a'), explicit('lab', 'vm-b'), false],
  ['all machines of a namespace, and a mapping in it', { namespaceSelectors: ['lab'] }, explicit('lab', 'vm-a'), true],
  ['a mapping outside of its own namespaces', { ...explicit('lab', 'vm-a'), namespaceSelectors: ['prod'] }, {}, false],
  ['all machines, and a mapping outside of its own', {}, { ...explicit('lab', 'vm-a'), namespaceSelectors: ['prod'] }, false],
  ['all machines, and a mapping inside of its own', {}, { ...explicit('lab', 'vm-a'), namespaceSelectors: ['lab'] }, true],
  ['labels, and all machines', labelled, {}, true],
  ['labels, which machines may have or not', explicit('lab', 'vm-a'), labelled, false],
  ['all machines, with a password too', {}, { passwordSecret }, false],
])('%s: the machines of the first one are allowed without its password: %4$s', (_, one, other, isFound) => {
  const config = secured(one);
  expect(unsecuredBy(config, [config, readConfig('open', other)])).toEqual(isFound ? ['open'] : []);
});

it('a WolConfig without a password has no password to bypass', () => {
  expect(unsecuredBy(readConfig('one'), [readConfig('one'), readConfig('other')])).toEqual([]);
});
