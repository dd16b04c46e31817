import type { Json } from '../api-object.js';
import {
  allocations,
  bindCurrentVersion,
  changeConfigMap,
  createBlocked,
  createEvent,
  createListedPools,
  createOwned,
  createPod,
  createPool,
  createVmNetworkConfig,
  learnName,
  MERGE,
  makePodReady,
  makePodsReadyUntilRolledOut,
  NETWORK,
  tightenProbes,
  untilGone,
  untilThere,
} from './hidden-actions.js';
import type { HiddenStep } from './hidden-step.js';
import type { Step } from './transcript.js';
import { webhookSteps } from './webhook-steps.js';

/** The actions of the recorder that the transcript does not contain, by the numbers of the steps. */
export interface HiddenSteps {
  /** Namespaces besides those in the paths of requests. */
  readonly namespaces?: readonly string[];
  /** Done before a step. */
  readonly before?: Readonly<Record<number, HiddenStep>>;
  /** Reads that were repeated until the cluster had settled, because controllers are asynchronous. */
  readonly settling?: readonly number[];
  /** Watches that ended before the last step, and the step before which they did. */
  readonly watchEnds?: Readonly<Record<number, number>>;
  /** Bodies that the transcript abbreviates. */
  readonly bodies?: Readonly<Record<number, (steps: readonly Step[]) => Json>>;
  /** Controllers write at their own pace: only the versions of one object are in order. */
  readonly concurrent?: boolean;
  /** Watches whose events may come in another order, because controllers change several objects at once. */
  readonly unordered?: readonly number[];
  /** Watches that may miss events that a later one replaces: a faster controller writes less often. */
  readonly overtaken?: readonly number[];
  /** Answers of which the transcript keeps only the used parts. */
  readonly parts?: readonly number[];
  /** Headers besides those that the transcript keeps. */
  readonly headers?: Readonly<Record<number, Readonly<Record<string, string>>>>;
}

const REPLICA_SETS = '/apis/apps/v1/namespaces/s14/replicasets';

export const HIDDEN_STEPS: Readonly<Record<string, HiddenSteps>> = {
  '01': { parts: [0, 2, 3, 13, 14, 22] },
  '02': {
    settling: [5, 6, 24],
    watchEnds: { 2: 7 },
    bodies: { 12: (steps) => steps[3]?.request?.body ?? null },
  },
  '04': { before: { 68: tightenProbes } },
  '08': {
    bodies: { 19: () => Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'IPPool' })) },
  },
  '09': {
    before: { 34: (scenario) => learnName(scenario, '/apis/apps/v1/namespaces/s09/replicasets', 'd-5476d8d5bd') },
    settling: [34],
  },
  '10': {
    namespaces: ['s10b', 's17'],
    before: {
      2: createListedPools,
      // Another scenario's, recorded at the same time.
      18: (scenario) => createPool(scenario, 's17', { name: 'ok' }),
      21: (scenario) => createPool(scenario, 's17', { name: 'ap' }),
      28: async (scenario) => {
        await createPool(scenario, 's10', { name: 'p0' });
        await scenario.do('DELETE', `${NETWORK}/namespaces/s10/ippools/p5`);
      },
      40: (scenario) => createPool(scenario, 's10', { name: 'p9' }),
      58: (scenario) => scenario.target.compact(),
    },
  },
  '11': {
    before: {
      0: async (scenario) => {
        await scenario.target.compact();
        await createPool(scenario, 's11', { name: 'pre', labels: { keep: 'yes' } });
      },
      36: changeConfigMap,
    },
    watchEnds: { 2: 19, 3: 19, 4: 19, 5: 19, 6: 19, 19: 36 },
  },
  '12': {
    concurrent: true,
    unordered: [21, 25, 29],
    namespaces: ['s12b'],
    before: {
      12: (scenario) => createPool(scenario, 's12', { name: 'pc' }),
      17: (scenario) => createPool(scenario, 's12', { name: 'bad' }),
      20: (scenario) => createPool(scenario, 's12', { name: 'bad' }),
      21: (scenario) => createOwned(scenario, 'own-background', ['1445', '1446']),
      25: (scenario) => createOwned(scenario, 'own-foreground', ['1455']),
      29: (scenario) => createOwned(scenario, 'own-orphan', ['1475']),
      34: createBlocked,
      39: (scenario) => untilGone(scenario, `${NETWORK}/namespaces/s12/ippools/blk`),
      41: async (scenario) => {
        await untilGone(scenario, `${NETWORK}/namespaces/s12/virtualmachinenetworkconfigs/lost`);
        scenario.bindings.bind('<uid:17>', await createPool(scenario, 's12', { name: 'xns' }));
      },
      43: (scenario) => untilGone(scenario, `${NETWORK}/namespaces/s12b/virtualmachinenetworkconfigs/cross`),
      44: async (scenario) => {
        await createVmNetworkConfig(scenario, { name: 'dc1', labels: { g: 'a' } });
        await createVmNetworkConfig(scenario, { name: 'dc2', labels: { g: 'a' }, finalizers: ['example.com/hold'] });
        await createVmNetworkConfig(scenario, { name: 'dc3', labels: { g: 'b' } });
      },
      46: (scenario) => createPod(scenario, 'unsched', {}),
      48: (scenario) => createPod(scenario, 'bound', { nodeName: 'gone-node' }),
    },
    settling: [33, 35, 36, 43],
    watchEnds: { 21: 25, 22: 25, 25: 29, 26: 29, 29: 34, 30: 34 },
  },
  '14': {
    concurrent: true,
    overtaken: [0, 31],
    parts: [19, 22, 30, 43, 47],
    before: {
      0: async (scenario) => {
        await untilThere(scenario, '/api/v1/namespaces/s14/serviceaccounts/default');
        await bindCurrentVersion(scenario, ['1001']);
      },
      2: (scenario) => learnName(scenario, REPLICA_SETS, 'agent-59796948bb'),
      11: async (scenario) => {
        // Of two Pods the one that became ready later goes first; times have seconds.
        await new Promise((resolve) => setTimeout(resolve, 1_100));
        await makePodReady(scenario, scenario.bindings.rename('agent-59796948bb-tgmj4'));
      },
      18: (scenario) => learnName(scenario, REPLICA_SETS, 'agent-6745fcb598'),
      21: makePodsReadyUntilRolledOut,
      48: (scenario) => learnName(scenario, '/api/v1/namespaces/s14/pods', 'wol-agent-a-9kc7q'),
    },
    settling: [2, 3, 4, 6, 8, 10, 16, 18, 19, 21, 22, 23, 25, 27, 30, 33, 36, 37, 40, 42, 43, 45, 47],
    watchEnds: { 0: 31 },
  },
  '16': {
    before: {
      0: (scenario) => createPool(scenario, 's16', { name: 'p1' }),
      32: (scenario) => {
        scenario.tokens['serviceaccount agent'] = scenario.bindings.value('<token>') ?? '';
      },
      36: async (scenario) => {
        const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: ['other'] } };
        const answer = await scenario.do('POST', '/api/v1/namespaces/s16/serviceaccounts/agent/token', { body: request });
        scenario.tokens['serviceaccount agent, audience other'] = (answer['status'] as { token: string }).token;
      },
      48: async (scenario) => {
        await scenario.do('DELETE', '/api/v1/namespaces/s16/serviceaccounts/agent');
      },
    },
    settling: [24, 50],
    headers: { 47: { 'impersonate-user': 'system:serviceaccount:other:bob' } },
  },
  '17': { before: webhookSteps() },
  '18': {
    namespaces: ['s18t'],
    before: {
      0: (scenario) => createPool(scenario, 's18', { name: 'p1' }),
      27: (scenario) => createPool(scenario, 's18t', { name: 'hold', finalizers: ['example.com/hold'] }),
      31: async (scenario) => {
        const release = { metadata: { finalizers: null } };
        await scenario.do('PATCH', `${NETWORK}/namespaces/s18t/ippools/hold`, { body: release, type: MERGE });
        await untilGone(scenario, '/api/v1/namespaces/s18t');
      },
      33: (scenario) => createPool(scenario, 's18', { name: 'big' }),
      36: async (scenario) => {
        const path = `${NETWORK}/namespaces/s18/ippools/big`;
        await scenario.do('DELETE', path);
        await createPool(scenario, 's18', { name: 'big' });
        await scenario.do('PATCH', `${path}/status`, { body: allocations(43_000), type: MERGE });
      },
    },
    settling: [30],
    bodies: { 33: () => allocations(43_759) },
  },
  '20': {
    before: {
      0: async (scenario) => {
        for (const name of ['e1', 'e2', 'e3', 'e4']) await createEvent(scenario, name);
      },
      3: async (scenario) => {
        for (const name of ['e15', 'e35']) await createEvent(scenario, name);
        await scenario.target.compact();
      },
    },
  },
};
