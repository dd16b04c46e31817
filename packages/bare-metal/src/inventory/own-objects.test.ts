import { describe, expect, it } from 'vitest';
import { endpointObject } from './inventory-fixtures.js';
import { agentsByEndpoint, type Claim, claimOf } from './own-objects.js';

const ENDPOINTS = [endpointObject('ours', '10.0.0.7'), endpointObject('theirs', '10.0.0.8', { clusterAgent: 'other' })];
const facts = { name: 'agent', clusterAgents: agentsByEndpoint(ENDPOINTS, ['agent', 'other']) };
const endpoint = (name: string) => ({ apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'HostEndpoint', name, uid: `uid-${name}` });
const OURS = { ...endpoint('ours'), controller: true };
const THEIRS = { ...endpoint('theirs'), controller: true };
const GONE = { ...endpoint('gone'), controller: true };
const NODE = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'n' };
/** A HostEndpoint of another API. */
const ALIEN = { ...endpoint('alien'), apiVersion: 'example.org/v1', controller: true };

describe('who owns a HostStatus', () => {
  it.each<[name: string, owners: object[] | undefined, written: string | undefined, claim: Claim]>([
    // Its HostEndpoint exists: nothing else counts.
    ['agent-10-0-0-7', [OURS], 'agent', 'own'],
    ['other-10-0-0-7', [OURS], 'other', 'own'],
    ['odd', [OURS], undefined, 'own'],
    ['agent-10-0-0-8', [THEIRS], 'agent', 'other'],
    ['odd', [THEIRS], 'agent', 'other'],
    // Its name contains a ClusterAgent.
    ['agent-10-0-0-9', undefined, 'agent', 'own'],
    ['agent-10-0-0-9', undefined, undefined, 'own'],
    ['agent-10-0-0-9', [], 'other', 'own'],
    ['agent-10-0-0-9', [GONE], 'agent', 'own'],
    ['agent-10-0-0-9', [GONE], undefined, 'own'],
    ['agent-10-0-0-9', [GONE], 'other', 'by-name'],
    ['other-10-0-0-9', undefined, 'agent', 'other'],
    ['other-10-0-0-9', undefined, undefined, 'other'],
    ['other-10-0-0-9', [GONE], 'agent', 'other'],
    // Its name contains none: it is for an IPv6 address, or was chosen by the predecessor.
    ['odd', undefined, 'agent', 'by-name'],
    ['odd', undefined, undefined, 'by-name'],
    ['odd', undefined, 'other', 'other'],
    ['odd', [GONE], 'agent', 'own'],
    ['odd', [GONE], undefined, 'by-name'],
    ['odd', [GONE], 'other', 'other'],
    // Owners that do not control it do not count.
    ['agent-10-0-0-9', [NODE], 'agent', 'own'],
    ['agent-10-0-0-9', [{ ...NODE, controller: true }], 'agent', 'other'],
    ['agent-10-0-0-9', [ALIEN], 'agent', 'other'],
    ['agent-10-0-0-7', [NODE, OURS], 'agent', 'own'],
  ])('%s, owned by %j, of %s: %s', (name, owners, written, claim) => {
    const ownerReferences = owners as (typeof NODE)[] | undefined;
    const metadata = { name, ...(ownerReferences && { ownerReferences }) };
    expect(claimOf({ metadata, status: { clusterAgent: written } }, facts)).toBe(claim);
  });

  it('a HostEndpoint without uid owns nothing', () => {
    const unborn = { ...endpointObject('x', '10.0.0.9'), metadata: { name: 'x' } };
    expect([...agentsByEndpoint([unborn, ...ENDPOINTS], ['agent', 'other'])]).toEqual([
      ['uid-ours', 'agent'],
      ['uid-theirs', 'other'],
    ]);
  });
});
