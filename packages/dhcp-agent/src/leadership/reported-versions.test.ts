import { expect, it } from 'vitest';
import { ReportedVersions } from './reported-versions.js';

const KEY = 'default/net-0';
const report = (version: string, key = KEY) => new Map([[key, { serving: true, version } as const]]);

function following() {
  const own = { version: '5', nowMs: 0 };
  const versions = new ReportedVersions({
    nowMs: () => own.nowMs,
    versionOf: (key) => (key === KEY ? own.version : undefined),
  });
  /** True if the pools are listed; `meanwhile` happens before the list arrives. */
  const look = async (meanwhile = () => undefined as unknown) => {
    own.nowMs += 1_000;
    let isListed = false;
    await versions.keepUp(async () => {
      isListed = true;
      meanwhile();
    });
    return isListed;
  };
  const looks = async (count: number) => {
    const listed: boolean[] = [];
    while (listed.length < count) {
      // The leader reports again and again.
      versions.note(report('7'));
      listed.push(await look());
    }
    return listed;
  };
  return { own, versions, look, looks };
}

it('a pool that stays behind the version of the leader is listed again every three seconds', async () => {
  const { own, versions, look, looks } = following();
  versions.note(report('5'));
  versions.note(report('7', 'unknown'));
  expect([
    versions.isBehind(KEY),
    versions.isBehind('unknown'),
    await look(),
    await look(),
    await look(),
    await look(),
  ]).not.toContain(true);
  versions.note(report('7'));
  expect(versions.isBehind(KEY)).toBe(true);
  expect(await looks(8)).toEqual([false, false, false, true, false, false, true, false]);
  own.version = '8';
  expect([versions.isBehind(KEY), ...(await looks(4))]).not.toContain(true);
});

it('a version that is newer than the list is forgotten, as the store was restored, but not one that was reported meanwhile', async () => {
  const { own, versions, look } = following();
  own.version = '3';
  versions.note(report('7'));
  for (let second = 0; second < 3; second++) await look();
  expect(await look(() => versions.note(report('9')))).toBe(true);
  expect(versions.isBehind(KEY)).toBe(true);
  for (let second = 0; second < 3; second++) await look();
  expect(versions.isBehind(KEY)).toBe(false);
});
