export interface PoolText {
  readonly name: string;
  /** The first three octets: `192.168.48`. */
  readonly prefix: string;
  /** Lines of spec.ipv4Config besides the necessary ones. */
  readonly settings?: readonly string[];
  /** False to give addresses to new clients without a probe of the network. */
  readonly probes?: boolean;
  /** Lines of spec.ipv6Config. */
  readonly ipv6?: readonly string[];
  /** `start` and `end`, last octets; default 10 to 99. */
  readonly range?: readonly [number, number];
}

export interface MachineText {
  readonly name: string;
  readonly pool: string;
  readonly macAddress: string;
  /** The address that it must get. */
  readonly address?: string;
}

/** A pools file as a person would write it: each pool a /24 whose server is .2. */
export function poolsYaml(pools: readonly PoolText[], machines: readonly MachineText[]): string {
  return [...pools.map(poolYaml), ...machines.map(machineYaml)].join('---\n');
}

function poolYaml({ name, prefix, settings = [], probes = true, ipv6 = [], range: [start, end] = [10, 99] }: PoolText): string {
  return `apiVersion: network.harvesterhci.io/v1alpha1
kind: IPPool
metadata:
  name: ${name}
  namespace: default
spec:
  networkName: default/${name}
${probes ? '' : '  conflictProbe: Disabled\n'}  ipv4Config:
    cidr: ${prefix}.0/24
    serverIP: ${prefix}.2
    pool:
      start: ${prefix}.${start}
      end: ${prefix}.${end}
${settings.map((line) => `    ${line}\n`).join('')}${ipv6.length === 0 ? '' : `  ipv6Config:\n${ipv6.map((line) => `    ${line}\n`).join('')}`}`;
}

function machineYaml({ name, pool, macAddress, address }: MachineText): string {
  return `apiVersion: network.harvesterhci.io/v1alpha1
kind: VirtualMachineNetworkConfig
metadata:
  name: ${name}
  namespace: default
spec:
  vmName: ${name}
  networkConfigs:
    - networkName: default/${pool}
      macAddress: "${macAddress}"
${address === undefined ? '' : `      ipAddress: ${address}\n`}`;
}
