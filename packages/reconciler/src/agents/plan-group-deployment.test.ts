import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { applyMergePatch } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import type { AgentsSettings } from './agents-plan.js';
import { activePool, type ClusterState, contextOf, deployment, SETTINGS } from './group-fixtures.js';
import { type DeploymentContext, planChartDeployment, planGroupDeployment } from './plan-group-deployment.js';
import type { GroupRightsPlan } from './plan-group-rights.js';
import { toAgentNetworkConfigs } from './pool-for-agents.js';
import { UNIFIED_GROUP } from './topology.js';
import { UpgradeBudget } from './upgrade-budget.js';

const A = 'default/a';
const B = 'default/b';
const NAME = 'group';

function context(state: ClusterState, settings: Partial<AgentsSettings> = {}): DeploymentContext {
  const shared = contextOf(state, { [A]: NAME }, settings);
  return { ...shared, upgrades: new UpgradeBudget(shared.observed.groups, shared.settings.maxGroupsUpgrading) };
}

interface Facts {
  readonly own?: readonly ReturnType<typeof activePool>[];
  /** Pools of other groups that are not released yet. */
  readonly leaving?: readonly string[];
  readonly rights?: Partial<GroupRightsPlan>;
}

function plan(
  state: ClusterState,
  { own = [activePool(A)], leaving = [], rights }: Facts = {},
  settings: Partial<AgentsSettings> = {},
) {
  const pools = [...leaving.map((key) => activePool(key)), ...own];
  const all = rights && { actions: [], granted: new Set<string>(), isReady: true, ...rights };
  return planGroupDeployment({ name: NAME, own, pools, rights: all }, context(state, settings));
}

const actionsOf = (result: ReturnType<typeof plan>) => (result.ok ? result.actions : []);
const kinds = (result: ReturnType<typeof plan>) => actionsOf(result).map(({ kind }) => kind);

/** The controller's Deployment for these pools. */
function made(
  keys: readonly string[],
  settings: Partial<AgentsSettings> = {},
  rights?: Partial<GroupRightsPlan>,
): KubernetesObject {
  const own = keys.map((key) => activePool(key));
  const [created] = actionsOf(plan({}, { own, ...(rights !== undefined && { rights }) }, settings));
  if (created?.kind !== 'create-deployment') throw new Error('no Deployment was planned');
  const { status } = deployment(NAME);
  return { ...created.deployment, metadata: { ...created.deployment.metadata, uid: 'd', generation: 1 }, status };
}

const there = (keys: readonly string[], object = made(keys)): ClusterState => ({
  groups: { [NAME]: { configured: keys, deployment: object } },
});
const containerOf = (object: KubernetesObject) =>
  (object.spec as { template: { spec: { serviceAccountName: string; containers: readonly [{ image: string }] } } }).template.spec;

interface AddedByHand {
  readonly pod?: object;
  readonly container?: object;
}

/** With other fields of the pod, or of its container. */
function edited(object: KubernetesObject, { pod, container }: AddedByHand): KubernetesObject {
  const changed = JSON.parse(JSON.stringify(object)) as { spec: { template: { spec: { containers: object[] } } } };
  const { spec } = changed.spec.template;
  const containers = spec.containers.map((one) => ({ ...one, ...container }));
  changed.spec.template.spec = { ...spec, ...pod, containers };
  return changed as unknown as KubernetesObject;
}

const withSecurityContext = (object: KubernetesObject, securityContext: object) =>
  edited(object, { container: { securityContext } });

describe('the Deployment of a group', () => {
  it('is created for its pools, and is left alone when it is correct', () => {
    expect(kinds(plan({}))).toEqual(['create-deployment']);
    expect(kinds(plan(there([A])))).toEqual([]);
  });

  it.each<readonly [string, Facts, Partial<AgentsSettings>]>([
    ['without own pools: it stays until it has released the others', { own: [], leaving: [A] }, {}],
    ['where the topology makes none', {}, { pods: undefined }],
  ])('nothing is done %s', (_, facts, settings) => {
    expect(kinds(plan({}, facts, settings))).toEqual([]);
    expect(kinds(plan({ groups: { [NAME]: { configured: [A, B] } } }, facts, settings))).toEqual([]);
  });

  it('one that is being deleted is left alone', () => {
    const object = made([A]);
    const going = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(kinds(plan(there([A], going), { own: [activePool(A), activePool(B)] }))).toEqual([]);
  });

  it('one with another selector is a problem of the group', () => {
    const other = { ...made([A]), spec: { ...(made([A]).spec as object), selector: { matchLabels: { app: 'other' } } } };
    expect(plan(there([A], other))).toMatchObject({ ok: false, problem: { reason: 'AgentSelectorMismatch' } });
  });

  it.each<AddedByHand>([
    { pod: { hostNetwork: true } },
    { pod: { hostPID: true } },
    { pod: { hostIPC: true } },
    { pod: { shareProcessNamespace: true } },
    { pod: { initContainers: [{ name: 'other', image: 'other' }] } },
    { pod: { volumes: [{ name: 'node', hostPath: { path: '/' } }] } },
    { pod: { nodeSelector: { zone: 'b' } } },
    { pod: { nodeName: 'node-b' } },
    { container: { command: ['sh'] } },
    { container: { envFrom: [{ secretRef: { name: 'other' } }] } },
    { container: { lifecycle: { postStart: { exec: { command: ['sh'] } } } } },
    { container: { volumeMounts: [{ name: 'node', mountPath: '/node' }] } },
  ])('manual additions to its pods are removed: %j', (added) => {
    const [action] = actionsOf(plan(there([A], edited(made([A]), added))));
    if (action?.kind !== 'patch-deployment') throw new Error(`planned was ${JSON.stringify(action)}`);
    const { spec } = applyMergePatch(action.deployment, JSON.parse(JSON.stringify(action.patch))) as KubernetesObject;
    expect(spec).toEqual(JSON.parse(JSON.stringify(made([A]).spec)));
  });

  it('additions of the cluster to its pods stay', () => {
    const more = { runtimeClassName: 'kata', enableServiceLinks: true };
    expect(kinds(plan(there([A], edited(made([A]), { pod: more }))))).toEqual([]);
  });

  it.each<readonly [string, Facts]>([
    ['one more', { own: [activePool(A), activePool(B)] }],
    ['one less', { own: [activePool(A)] }],
    ['another network of the same pool', { own: [activePool(A, { network: 'default/other' }), activePool('default/c')] }],
    ['another server address of the same pool', { own: [activePool(A, { serverIP: '10.0.0.9' }), activePool('default/c')] }],
  ])('configured pools change at once, whatever is being upgraded: %s', (_, facts) => {
    const configured = facts.own?.length === 2 && facts.own[1]?.key === B ? [A] : [A, 'default/c'];
    const state = there(configured);
    const groups = { ...state.groups, busy: { deployment: deployment('busy', { isRolledOut: false }) } };
    expect(actionsOf(plan({ groups }, facts))).toMatchObject([{ kind: 'patch-deployment', changesPools: true }]);
  });

  it('an upgrade waits while as many others are being upgraded', () => {
    const next = { pods: { ...SETTINGS.pods, image: 'agent:v3' } };
    const busy = { deployment: deployment('busy', { isRolledOut: false }) };
    expect(actionsOf(plan(there([A]), {}, next))).toMatchObject([{ kind: 'patch-deployment', group: NAME, changesPools: false }]);
    expect(kinds(plan({ groups: { ...there([A]).groups, busy } }, {}, next))).toEqual([]);
    expect(kinds(plan({ groups: { ...there([A]).groups, busy } }, {}, { ...next, maxGroupsUpgrading: 2 }))).toEqual([
      'patch-deployment',
    ]);
  });

  describe('keeps its image', () => {
    const kept = { recorded: { group: undefined, image: 'agent:v1' }, holdsImage: true };
    const imageOf = (state: ClusterState, own: readonly ReturnType<typeof activePool>[]) => {
      const [action] = actionsOf(plan(state, { own }));
      return action?.kind === 'create-deployment' ? containerOf(action.deployment).containers[0].image : JSON.stringify(action);
    };

    it('if one of its pools asks for it: the image that its status names, else the one that runs', () => {
      expect(imageOf({}, [activePool(A)])).toBe('agent:v2');
      expect(imageOf({}, [activePool(A), activePool(B, kept)])).toBe('agent:v1');
      expect(imageOf({}, [activePool(A, { recorded: kept.recorded })])).toBe('agent:v2');
      expect(imageOf({}, [activePool(A, { holdsImage: true })]), 'neither is known').toBe('agent:v2');
      const running = made([A], { pods: { ...SETTINGS.pods, image: 'agent:v0' } });
      expect(kinds(plan(there([A], running), { own: [activePool(A, { holdsImage: true })] })), 'v0 runs').toEqual([]);
      expect(kinds(plan(there([A], running)))).toEqual(['patch-deployment']);
    });

    it('with the user and the rights that it was made for: an image may need root', () => {
      const asRoot = { runAsUser: 0, runAsGroup: 0, allowPrivilegeEscalation: false };
      const running = withSecurityContext(made([A], { pods: { ...SETTINGS.pods, image: 'agent:v0' } }), asRoot);
      const keeping = activePool(A, { holdsImage: true });
      expect(kinds(plan(there([A], running), { own: [keeping] })), 'an upgrade of the controller changes nothing').toEqual([]);
      const [more] = actionsOf(plan(there([A], running), { own: [keeping, activePool(B)] }));
      expect(JSON.stringify(more), 'one pool more').not.toMatch(/65532|runAsNonRoot/);
      const moved = activePool(A, { holdsImage: true, recorded: { group: 'before', image: 'agent:v0' } });
      const [created] = actionsOf(plan({ groups: { before: { deployment: running } } }, { own: [moved] }));
      const container = created?.kind === 'create-deployment' ? containerOf(created.deployment).containers[0] : undefined;
      expect(container, 'in another group').toMatchObject({ image: 'agent:v0', securityContext: asRoot });
      const [next] = actionsOf(plan(there([A], running)));
      expect(JSON.stringify(next), 'without the annotation').toContain('"runAsUser":65532');
    });
  });

  describe('with rights of its own', () => {
    const { serviceAccountName: _, ...pods } = SETTINGS.pods;
    const own = { pods };
    const granted = (...keys: readonly string[]) => ({ granted: new Set(keys) });

    it.each<readonly [string, Partial<GroupRightsPlan>, boolean]>([
      ['once its agents may use their Lease and read a pool', granted(A), true],
      ['not before they may use their Lease', { ...granted(A), isReady: false }, false],
      ['not before they may read a pool', {}, false],
    ])('it is created %s', (_title, rights, isCreated) => {
      expect(kinds(plan({}, { rights }, own))).toEqual(isCreated ? ['create-deployment'] : []);
    });

    it('is configured with the pools that its agents may read, and keeps one whose right is lost', () => {
      const both = [activePool(A), activePool(B)];
      const [created] = actionsOf(plan({}, { own: both, rights: granted(A) }, own));
      expect(JSON.stringify(created)).toContain(JSON.stringify(JSON.stringify(toAgentNetworkConfigs([activePool(A)]))));
      const state = there([A, B], made([A, B], own, granted(A, B)));
      expect(kinds(plan(state, { own: both, rights: granted(A) }, own))).toEqual([]);
    });

    it('an existing Deployment follows its pools, even if its agents lost the right to their Lease', () => {
      const both = [activePool(A), activePool(B)];
      const state = there([A, B], made([A, B], own, granted(A, B)));
      const lost = { ...granted(A), isReady: false };
      expect(actionsOf(plan(state, { own: [activePool(A)], rights: lost }, own))).toMatchObject([{ changesPools: true }]);
      expect(kinds(plan(state, { own: both, rights: lost }, own))).toEqual([]);
    });

    it('has the ServiceAccount of its name if other clients manage the rights', () => {
      expect(containerOf(made([A], own)).serviceAccountName).toBe(NAME);
      expect(kinds(plan(there([A], made([A])), {}, own)), 'at once').toEqual(['patch-deployment']);
    });

    it('agents under another ServiceAccount keep it until their own has all rights', () => {
      const state = there([A], made([A]));
      expect(kinds(plan(state, { rights: { ...granted(A), isReady: false } }, own))).toEqual([]);
      expect(kinds(plan(state, { rights: {} }, own))).toEqual([]);
      const [changed] = actionsOf(plan(state, { rights: granted(A) }, own));
      expect(changed).toMatchObject({ patch: { spec: { template: { spec: { serviceAccountName: NAME } } } } });
    });

    it('a ServiceAccount that a person has chosen stays', () => {
      expect(containerOf(made([A])).serviceAccountName).toBe('agent');
      expect(containerOf(made([A], own, granted(A))).serviceAccountName).toBe(NAME);
    });
  });
});

describe('the Deployment of a chart', () => {
  const chart = (more: Partial<KubernetesObject['metadata']> = {}, name = 'agent'): KubernetesObject => ({
    metadata: { namespace: 'agents', name: 'chart', uid: 'c', ...more },
    spec: { template: { spec: { containers: [{ name }] } } },
  });
  const planned = (
    object: KubernetesObject | 'none',
    configured: readonly string[] = [],
    settings: Partial<AgentsSettings> = {},
  ) =>
    planChartDeployment(
      configured.includes(A) ? [activePool(A)] : [],
      context({ groups: { [UNIFIED_GROUP]: { configured, deployment: object } } }, settings),
    );

  it.each<readonly [string, KubernetesObject | 'none', unknown]>([
    [
      'is missing',
      'none',
      {
        ok: false,
        problem: {
          reason: 'AgentDeploymentMissing',
          message: 'there is no Deployment agents/chart; install it, or set AGENT_DEPLOYMENT_NAME',
        },
      },
    ],
    ['has no such container', chart({}, 'other'), { ok: false, problem: { reason: 'AgentContainerMissing' } }],
    ['is being deleted', chart({ deletionTimestamp: '2026-01-01T00:00:00Z' }), { ok: true, actions: [] }],
  ])('%s', (_, object, expected) => {
    expect(planned(object)).toMatchObject(expected as object);
  });

  it('is configured with the pools, and returns whether they changed', () => {
    const pools = [activePool(A)];
    const first = planChartDeployment(pools, context({ groups: { [UNIFIED_GROUP]: { deployment: chart() } } }));
    expect(first).toMatchObject({ ok: true, actions: [{ kind: 'patch-deployment', group: UNIFIED_GROUP, changesPools: true }] });
    const same = planned(chart(), [A]);
    expect(same).toMatchObject({ ok: true, actions: [{ changesPools: false }] });
  });

  it('agents that serve nothing are configured so', () => {
    const unified = { ...SETTINGS.unified, dryRun: true };
    expect(JSON.stringify(planned(chart(), [A], { unified }))).toContain('VM_DHCP_AGENT_DRY_RUN');
    expect(JSON.stringify(planned(chart(), [A]))).not.toContain('VM_DHCP_AGENT_DRY_RUN');
  });
});

describe('UpgradeBudget', () => {
  const groupsOf = (rolling: readonly string[]) =>
    context({
      groups: Object.fromEntries(rolling.map((name) => [name, { deployment: deployment(name, { isRolledOut: false }) }])),
    }).observed.groups;

  it('counts the groups that are being rolled out, and those that it has let through', () => {
    const budget = new UpgradeBudget(groupsOf(['a']), 2);
    expect(['a', 'b', 'c', 'b', 'a'].map((name) => budget.take(name))).toEqual([true, true, false, true, true]);
  });

  it('a group without a Deployment, and one that is rolled out, do not count', () => {
    const { groups } = context({ groups: { a: { deployment: 'none' }, b: {} } }).observed;
    expect(new UpgradeBudget(groups, 1).take('c')).toBe(true);
  });
});

describe('the resources that agents request', () => {
  const marker = (bridge: string) => `bridge.network.kubevirt.io/${bridge}`;
  const on = (key: string, bridge: string) => {
    const pool = activePool(key);
    return { ...pool, placement: { ...pool.placement, resource: marker(bridge) } };
  };
  const limitsOf = (object: KubernetesObject) => {
    const [container] = containerOf(object).containers as unknown as readonly { resources: { limits: Record<string, string> } }[];
    return container?.resources.limits;
  };

  it('include one for each of its pools, and none for pools that leave it', () => {
    const own = [on(A, 'br1'), on(B, 'br1')];
    const leaving = on('default/c', 'nowhere');
    const rights = undefined;
    const shared = context({});
    const pools = new Map([...shared.pools, ['default/c', leaving] as const]);
    const [created] = actionsOf(planGroupDeployment({ name: NAME, own, pools: [leaving, ...own], rights }, { ...shared, pools }));
    expect(created?.kind === 'create-deployment' ? limitsOf(created.deployment) : created).toMatchObject({
      [marker('br1')]: '2',
    });
    expect(JSON.stringify(created)).not.toContain('nowhere');
  });

  it.each([
    ['are taken away when no network asks for them any more', marker('old'), 1],
    ['are left alone if others added them', 'example.org/added', 0],
  ])('%s', (_, resource, writes) => {
    const before = made([A]);
    const [container] = containerOf(before).containers as unknown as readonly {
      resources: { limits: object; requests: object };
    }[];
    const { limits, requests } = container?.resources ?? { limits: {}, requests: {} };
    const resources = { limits: { ...limits, [resource]: '1' }, requests: { ...requests, [resource]: '1' } };
    const template = {
      ...(readField(before.spec, 'template') as object),
      spec: { ...containerOf(before), containers: [{ ...container, resources }] },
    };
    const object = { ...before, spec: { ...(before.spec as object), template } } as KubernetesObject;
    const actions = actionsOf(plan(there([A], object)));
    expect(actions).toHaveLength(writes);
    expect(JSON.stringify(actions.map((one) => (one.kind === 'patch-deployment' ? one.patch : one)))).not.toContain(resource);
  });
});
