import { ASSIGNED_ADDRESSES_ANNOTATION, INTERFACES_ANNOTATION } from '@vmdhcp/ippool-api';
import { expect, it } from 'vitest';
import { virtualMachine } from '../fixtures/object-fixtures.js';
import { planAddressAnnotations } from './plan-address-annotations.js';

it('a machine keeps its annotation while its status still shows the address under the former MAC address', () => {
  const [former, now, other] = ['02:00:00:00:00:01', '02:00:00:00:00:02', '02:00:00:00:00:03'];
  const interfaces = {
    nic: { networkName: 'net-1', macAddress: now, replaces: [former] },
    back: { networkName: 'net-1', macAddress: other, replaces: [former] },
  };
  const status = (macAddress: string | undefined) => ({
    networkConfigs: [{ networkName: 'default/net-1', macAddress, allocatedIPAddress: '10.0.0.10', state: 'Allocated' }],
  });
  const config = (macAddress: string | undefined) => ({
    metadata: { namespace: 'default', name: 'vm-a', annotations: { [INTERFACES_ANNOTATION]: JSON.stringify(interfaces) } },
    status: status(macAddress),
  });
  const shown = (macAddress: string | undefined) => {
    const patch = planAddressAnnotations(virtualMachine('vm-a'), config(macAddress)) as { metadata: { annotations: object } };
    return patch?.metadata.annotations;
  };
  expect(shown(former)).toMatchObject({ [ASSIGNED_ADDRESSES_ANNOTATION]: '{"nic":["10.0.0.10"]}' });
  expect(shown(other)).toMatchObject({ [ASSIGNED_ADDRESSES_ANNOTATION]: '{"back":["10.0.0.10"]}' });
  expect(shown('02:00:00:00:00:99')).toBeUndefined();
});
