import { AGENT_REPORT_ANNOTATION, type PoolReport } from '@vmdhcp/ippool-api';
import { describe, expect, it } from 'vitest';
import type { ObservedGroup } from './agents-observation.js';
import { believedGroups } from './believed-groups.js';
import { readGroupLease } from './group-lease.js';
import { toGroupRights } from './group-rights.js';

const GROUP = 'vm-dhcp-agent-red-1';
const pool = (key: string) => ({ key, network: key, serverIP: '10.0.0.2', cidr: '10.0.0.0/24' });

/** A group that is configured to serve `red/configured`, and reports that it serves `reported`. */
function group(...reported: readonly string[]): ObservedGroup {
  const report = Object.fromEntries(reported.map((key): [string, PoolReport] => [key, { serving: true }]));
  const annotations = { [AGENT_REPORT_ANNOTATION]: JSON.stringify(report) };
  const lease = readGroupLease({ metadata: { name: GROUP, annotations }, spec: { holderIdentity: 'pod_1' } }, false);
  return { deployment: undefined, configured: new Map([['red/configured', pool('red/configured')]]), lease };
}

function believed(reported: readonly string[], isTrusted = false, nameOfRights = GROUP): { known: string[]; report: string[] } {
  const given = {
    rightsOf: (group: string) =>
      group === GROUP ? toGroupRights({ group: nameOfRights, namespace: 'agents' }, new Map([['red', ['granted']]])) : [],
    recordedGroupOf: (key: string) => (key === 'red/recorded' ? GROUP : 'another-group'),
  };
  const { lease } = believedGroups(new Map([[GROUP, group(...reported)]]), given, () => isTrusted).get(GROUP) ?? group();
  return { known: [...lease.known], report: [...lease.report.keys()] };
}

describe('believedGroups', () => {
  it('believes an agent about pools that are configured for its group, that it may read, or that it served last', () => {
    const reported = ['red/configured', 'red/granted', 'red/recorded'];
    expect(believed(reported)).toEqual({ known: reported, report: reported });
  });

  it('does not believe it about pools of other groups', () => {
    expect(believed(['red/configured', 'blue/three', 'red/another'])).toEqual({
      known: ['red/configured'],
      report: ['red/configured'],
    });
  });

  it('ignores Roles with another name, which other clients have labeled like those of the group', () => {
    expect(believed(['red/granted'], false, 'another').known).toEqual([]);
  });

  it('believes a group whose rights the controller does not manage', () => {
    expect(believed(['blue/three'], true).known).toEqual(['blue/three']);
  });
});
