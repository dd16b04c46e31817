import { expect, it } from 'vitest';
import { ReportedVersions } from './reported-versions.js';

it('a pool that stays behind the version of the leader is listed again every three seconds', () => {
  let [nowMs, own] = [0, '5'];
  const versions = new ReportedVersions({ nowMs: () => nowMs, versionOf: (key) => (key === 'unknown' ? undefined : own) });
  const look = () => {
    nowMs += 1_000;
    return versions.isBehindForLong();
  };
  const looks = () => [look(), look(), look(), look()];
  versions.note(new Map([['default/net-0', { serving: true, version: '5' }]]));
  versions.note(new Map([['unknown', { serving: true, version: '7' }]]));
  expect([versions.isBehind('default/net-0'), versions.isBehind('unknown'), ...looks()]).not.toContain(true);
  versions.note(new Map([['default/net-0', { serving: true, version: '7' }]]));
  expect(versions.isBehind('default/net-0')).toBe(true);
  expect([...looks(), ...looks()]).toEqual([false, false, false, true, false, false, true, false]);
  own = '8';
  expect([versions.isBehind('default/net-0'), ...looks()]).not.toContain(true);
  // The store was restored from a snapshot: versions went back.
  own = '3';
  expect(versions.isBehind('default/net-0')).toBe(true);
  // The leader reports another version while the pools are listed: that one is not in the list.
  const noted = versions.noted();
  versions.note(new Map([['default/net-0', { serving: true, version: '9' }]]));
  versions.forgetNewer(noted);
  expect(versions.isBehind('default/net-0')).toBe(true);
  versions.forgetNewer(versions.noted());
  expect([versions.isBehind('default/net-0'), ...looks()]).not.toContain(true);
});
