import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { virtualMachine } from '../fixtures/object-fixtures.js';
import { projectVirtualMachine } from './cached-virtual-machine.js';
import { readInterfaceBindings } from './interface-binding.js';
import { machineInterfaces } from './machine-interfaces.js';
import { planNetworkConfig } from './plan-network-config.js';
import { hasUnseenInstance } from './running-instance.js';
import { wantedInterfaces } from './wanted-interfaces.js';

const templateOf = ({ spec }: KubernetesObject) => readField(spec, 'template', 'spec');

it('the cached part of a virtual machine is the part that is read', () => {
  const made = virtualMachine('vm-a', {
    annotations: {
      'static-ip.harvesterhci.io/nic': '10.0.0.16',
      'harvesterhci.io/mac-address': '{"nic":"02:00:00:00:00:0a"}',
      'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(5_000),
    },
  });
  const { template } = made.spec as { readonly template: { readonly spec: object } };
  const whole: KubernetesObject = {
    ...made,
    metadata: { ...made.metadata, uid: 'u', resourceVersion: '7', generation: 2, creationTimestamp: 't', labels: { a: 'b' } },
    spec: {
      runStrategy: 'Always',
      dataVolumeTemplates: ['x'.repeat(5_000)],
      template: { spec: { ...template.spec, volumes: ['x'.repeat(5_000)] } },
    },
    status: { created: true, printableStatus: 'Running', conditions: ['x'.repeat(5_000)] },
  };
  expect(projectVirtualMachine(whole)).toEqual({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      namespace: 'default',
      name: 'vm-a',
      uid: 'u',
      resourceVersion: '7',
      generation: 2,
      creationTimestamp: 't',
      annotations: {
        'static-ip.harvesterhci.io/nic': '10.0.0.16',
        'harvesterhci.io/mac-address': '{"nic":"02:00:00:00:00:0a"}',
      },
    },
    spec: {
      template: {
        spec: {
          domain: { devices: { interfaces: [{ name: 'nic', macAddress: '02:00:00:00:00:0a' }] } },
          networks: [{ name: 'nic', multus: { networkName: 'net-1' } }],
        },
      },
    },
    status: { created: true, printableStatus: 'Running' },
  });
  expect(projectVirtualMachine({ metadata: { name: 'a', deletionTimestamp: 't' } })).toEqual({
    metadata: { name: 'a', deletionTimestamp: 't', annotations: {} },
    spec: {},
    status: { created: false },
  });
});

it('law: for any virtual machine, the plan from the cached part equals the plan from the whole object', () => {
  const text = fc.constantFrom('nic', 'nic2', '', 'net-1', 'other/net', '02:00:00:00:00:0a', '10.0.0.9', 'x'.repeat(70));
  const value = fc.oneof({ weight: 8, arbitrary: text }, fc.constantFrom(undefined, null, 7, {}, []));
  const networkInterface = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record(
        {
          name: value,
          macAddress: value,
          bridge: value,
          masquerade: value,
          passtBinding: value,
          binding: fc.oneof(fc.record({ name: fc.constantFrom('passt', 'macvtap', '', 7) }), value),
        },
        { requiredKeys: ['name'] },
      ),
    },
    value,
  );
  const network = fc.oneof(
    { weight: 6, arbitrary: fc.record({ name: value, multus: fc.oneof(fc.record({ networkName: value }), value), pod: value }) },
    value,
  );
  const list = (entry: fc.Arbitrary<unknown>) => fc.oneof({ weight: 6, arbitrary: fc.array(entry, { maxLength: 4 }) }, value);
  const template = fc.record({
    domain: fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          devices: fc.record({
            interfaces: list(networkInterface),
            autoattachPodInterface: fc.constantFrom(false, true, undefined),
          }),
        }),
      },
      value,
    ),
    networks: list(network),
    volumes: value,
  });
  const annotation = fc.constantFrom(
    'static-ip.harvesterhci.io/nic',
    'static-ip.harvesterhci.io/other',
    'network.kubevirt.io/addresses',
    'harvesterhci.io/mac-address',
    'network.harvesterhci.io/dhcp-opt-out',
    'example.com/other',
  );
  const machine = fc.record({
    annotations: fc.dictionary(
      annotation,
      fc.oneof(text, fc.constantFrom('{"nic":"02:00:00:00:00:0b"}', '{"nic":["10.0.0.9"]}', 'true', '{')),
    ),
    template: fc.oneof({ weight: 6, arbitrary: template }, value),
    templateAnnotation: fc.constantFrom(undefined, '{"nic":["10.0.0.9"]}', '{'),
    status: fc.oneof(fc.record({ created: fc.constantFrom(true, false, 'true', undefined), printableStatus: value }), value),
  });
  fc.assert(
    fc.property(machine, ({ annotations, template: spec, status, templateAnnotation }) => {
      const ofTemplate = { labels: { a: 'b' }, annotations: { 'network.kubevirt.io/addresses': templateAnnotation, other: 'x' } };
      const whole: KubernetesObject = {
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachine',
        metadata: { namespace: 'default', name: 'vm-a', uid: 'u', annotations },
        spec: { template: { metadata: ofTemplate, spec } },
        status,
      };
      const cached = projectVirtualMachine(whole);
      expect(wantedInterfaces(cached)).toEqual(wantedInterfaces(whole));
      expect(machineInterfaces(cached)).toEqual(machineInterfaces(whole));
      expect(planNetworkConfig(cached, undefined)).toEqual(planNetworkConfig(whole, undefined));
      expect(readInterfaceBindings(templateOf(cached))).toEqual(readInterfaceBindings(templateOf(whole)));
      expect(hasUnseenInstance(cached, undefined)).toBe(hasUnseenInstance(whole, undefined));
    }),
    { numRuns: 500 },
  );
});
