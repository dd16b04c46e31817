import { expect, it } from 'vitest';
import { findRefusedClaims } from './find-refused-claims.js';
import { parsePoolsFile } from './parse-pools-file.js';
import { describePoolsFileFinding } from './pools-file-finding.js';

const POOL = `apiVersion: network.harvesterhci.io/v1alpha1
kind: IPPool
metadata: { name: net-48 }
spec:
  networkName: default/net-48
  ipv4Config:
    cidr: 192.168.48.0/24
    pool: { start: 192.168.48.10, end: 192.168.48.11 }
`;
/** Seven lines; the entry of `networkConfigs` is in the last of them. */
const machine = (name: string, macAddress: string, ipAddress = '0.0.0.0') => `---
apiVersion: network.harvesterhci.io/v1alpha1
kind: VirtualMachineNetworkConfig
metadata: { name: ${name} }
spec:
  vmName: ${name}
  networkConfigs: [{ networkName: default/net-48, macAddress: "${macAddress}", ipAddress: ${ipAddress} }]
`;

function refused(text: string): string[] {
  const result = parsePoolsFile(text);
  return findRefusedClaims(result.ok ? result.file : result.rest).map((finding) => describePoolsFileFinding('f', finding));
}

it('claims that can be fulfilled are not reported', () => {
  expect(refused(POOL + machine('vm-a', '02:00:00:00:00:0a') + machine('vm-b', '02:00:00:00:00:0b', '192.168.48.10'))).toEqual(
    [],
  );
});

it('if two claim one MAC address on one network, both are named, with the place of the one that gets nothing', () => {
  expect(refused(POOL + machine('vm-a', '02:00:00:00:00:0a') + machine('vm-b', '02-00-00-00-00-0A'))).toEqual([
    'f:22:20: VirtualMachineNetworkConfig default/vm-b: spec.networkConfigs[0]: 02:00:00:00:00:0a is claimed by default/vm-a too; give one of the interfaces another MAC address',
  ]);
});

it('if two want one address, both are named', () => {
  const text =
    POOL + machine('vm-a', '02:00:00:00:00:0a', '192.168.48.10') + machine('vm-b', '02:00:00:00:00:0b', '192.168.48.10');
  expect(refused(text)).toEqual([
    'f:22:20: VirtualMachineNetworkConfig default/vm-b: spec.networkConfigs[0]: 192.168.48.10 is wanted by default/vm-a (02:00:00:00:00:0a) too; give one of them another address',
  ]);
});

it('an address outside the pool, and a pool that is too small, are reported beside problems of another kind', () => {
  const others = [machine('vm-a', '02:00:00:00:00:0a', '192.168.48.99'), machine('vm-b', '02:00')];
  const many = ['b', 'c', 'd'].map((digit) => machine(`vm-0${digit}`, `02:00:00:00:00:0${digit}`));
  expect(refused([POOL, ...others, ...many].join(''))).toEqual([
    expect.stringMatching(/^f:15:20: .*default\/vm-a: .*192\.168\.48\.99 .*: it lies outside the range of the pool; /),
    expect.stringMatching(/^f:43:20: .*default\/vm-0d: .*: every address is in use; /),
  ]);
});
