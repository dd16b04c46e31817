/** The set-up of most tests of agents: a cluster whose pods are on VLANs of the lab, and clients that ask on the first of them. */
import { ClientFleet } from './client-fleet.js';
import { Lab } from './lab.js';
import { LabCluster, type LabClusterSettings } from './lab-cluster.js';

export interface VlanLab {
  readonly lab: Lab;
  readonly cluster: LabCluster;
  /** On the network of the first VLAN. */
  readonly fleet: ClientFleet;
  stop(): Promise<void>;
}

/** For each VLAN n: the network `brn` of the lab, to which the NetworkAttachmentDefinition `default/vlan-n` leads. */
export async function startVlanLab(
  vlans: readonly [number, ...number[]],
  settings: Omit<LabClusterSettings, 'networks'> = {},
): Promise<VlanLab> {
  const lab = new Lab();
  for (const vlan of vlans) lab.addNetwork(`br${vlan}`);
  const networks = Object.fromEntries(vlans.map((vlan) => [`default/vlan-${vlan}`, `br${vlan}`]));
  const cluster = await LabCluster.start(lab, { ...settings, networks });
  const fleet = new ClientFleet(`br${vlans[0]}`);
  const stop = async (): Promise<void> => {
    fleet.stop();
    await cluster.stop();
    await lab.dispose();
  };
  return { lab, cluster, fleet, stop };
}
