import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { deploymentOf, SERVED_HERE } from '../migration-plan/migration-fixtures.js';
import { judgeLeader, withoutUpstream } from './judge-leader.js';
import type { Installation } from './plan-uninstall.js';

const UPSTREAM = deploymentOf('upstream-controller');
const POD = 'harvester-vm-dhcp-controller-7d9f-x';

describe('an uninstallation while a controller is leader', () => {
  it('has to wait until ours is stopped', () => {
    expect(judgeLeader('vm-dhcp-controller-5c-y', [UPSTREAM, deploymentOf('own-controller')])).toEqual({
      who: 'the controller',
      hindrance:
        'would create everything again; stop it first, for example: kubectl -n harvester-system delete deployment vm-dhcp-controller',
    });
    expect(judgeLeader('vm-dhcp-controller-5c-y', []).hindrance).toContain('kubectl -n vm-dhcp-system delete deployment');
  });

  it.each<[what: string, deployments: readonly KubernetesObject[], hindrance: RegExp | undefined]>([
    ['while our agents are left', SERVED_HERE.agentDeployments, /our agents \S+ are left: first go all the way back .* --back$/],
    ['while our controller waits', [deploymentOf('own-controller')], /first remove our chart or manifest/],
    ['while our webhook runs', [deploymentOf('own-webhook')], /first remove our chart or manifest/],
    ['when ours is scaled to 0', [deploymentOf('own-controller', 0), deploymentOf('own-webhook', 0)], undefined],
    ['when nothing of ours is left', [], undefined],
  ])('beside Harvester’s, %s', (_what, deployments, hindrance) => {
    const judged = judgeLeader(POD, [UPSTREAM, ...deployments]);
    expect(judged.who).toBe("Harvester's controller");
    if (hindrance === undefined) expect(judged.hindrance).toBeUndefined();
    else expect(judged.hindrance).toMatch(hindrance);
    expect(judged.hindrance ?? '').not.toContain('add-on');
  });

  it('beside Harvester’s leaves what that needs', () => {
    const object: KubernetesObject = { metadata: { name: 'x' } };
    const definition = (name: string): KubernetesObject => ({ metadata: { name } });
    const kinds = ['pods', 'controllerLeases', 'ipPools', 'networkConfigs', 'networks', 'webhookSecrets', 'memoryConfigMaps'];
    const installed = {
      ...Object.fromEntries(kinds.map((kind) => [kind, [object]])),
      customResourceDefinitions: ['ippools', 'virtualmachinenetworkconfigs', 'others'].map((plural) =>
        definition(`${plural}.network.harvesterhci.io`),
      ),
    } as unknown as Installation;
    expect(withoutUpstream(installed)).toEqual({
      pods: [],
      controllerLeases: [],
      ipPools: [],
      networkConfigs: [],
      networks: [],
      webhookSecrets: [object],
      memoryConfigMaps: [object],
      customResourceDefinitions: [definition('others.network.harvesterhci.io')],
    });
  });
});
