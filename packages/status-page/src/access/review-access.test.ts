import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { DECISION_MS, ReviewAccess, type ReviewAccessSettings, type ReviewedUser, type SectionRight } from './review-access.js';

const POOLS: SectionRight = { verb: 'list', group: 'network.harvesterhci.io', resource: 'ippools', namespace: '' };
const CONFIGS: SectionRight = { ...POOLS, resource: 'virtualmachinenetworkconfigs', namespace: 'default' };

function setUp(
  may: (user: string, resource: string) => boolean = () => true,
  rights: ReviewAccessSettings['rights'] = { pools: [POOLS], machines: [CONFIGS] },
) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const refused: unknown[] = [];
  const state = { isDown: false };
  const access = new ReviewAccess(
    { rights },
    {
      reviewToken: async (token): Promise<ReviewedUser | undefined> => {
        asked.push(`token ${token}`);
        if (state.isDown) throw new Error('connection refused');
        return token.startsWith('good') ? { username: token.slice(5) } : undefined;
      },
      reviewAccess: async ({ username }, { resource }) => {
        asked.push(`${username} ${resource}`);
        if (state.isDown) throw new Error('connection refused');
        return may(username, resource);
      },
      digest: (token) => `digest of ${token}`,
      clock,
      onError: () => asked.push('error'),
      onRefused: (refusal) => refused.push(refusal),
    },
  );
  return { access, clock, asked, refused, state };
}

describe('access by reviews of the API server', () => {
  it('a user who may list the kinds sees their sections; sections that the server lacks are off', async () => {
    const { access } = setUp();
    expect(await access.decide('good-ann', '192.0.2.1')).toEqual({
      kind: 'granted',
      user: 'ann',
      sections: {
        pools: { kind: 'shown' },
        machines: { kind: 'shown' },
        agents: { kind: 'off' },
        'wake-on-lan': { kind: 'off' },
        hosts: { kind: 'off' },
        events: { kind: 'off' },
      },
    });
  });

  it('the right to Events alone shows nothing: they are about objects that the user may not see', async () => {
    const EVENTS: SectionRight = { verb: 'list', group: '', resource: 'events', namespace: '' };
    const { access } = setUp((_, resource) => resource === 'events', { pools: [POOLS], events: [EVENTS] });
    const refused = await access.decide('good-bob', '192.0.2.1');
    expect(refused).toMatchObject({ kind: 'refused', status: 403 });
    expect(JSON.stringify(refused)).not.toContain('list events');
  });

  it('a section without its right is denied, and the right is named', async () => {
    const { access } = setUp((_, resource) => resource === 'ippools');
    expect(await access.decide('good-bob', '192.0.2.1')).toMatchObject({
      kind: 'granted',
      sections: {
        machines: { kind: 'denied', right: 'list virtualmachinenetworkconfigs.network.harvesterhci.io in namespace default' },
      },
    });
  });

  it('a user without any right is refused with the rights that are missing', async () => {
    const { access, refused } = setUp(() => false);
    const decision = await access.decide('good-eve', '192.0.2.1');
    expect(decision).toMatchObject({ kind: 'refused', status: 403, error: 'forbidden' });
    expect(decision.kind === 'refused' && decision.message).toContain('list ippools.network.harvesterhci.io in all namespaces');
    expect(refused).toEqual([{ error: 'forbidden', user: 'eve', peer: '192.0.2.1' }]);
  });

  it.each([undefined, '', 'with space', 'x'.repeat(9_000), 'line\nbreak', 'ünicode'])(
    'the token %j is refused without a request to the API server',
    async (token) => {
      const { access, asked } = setUp();
      expect(await access.decide(token, '192.0.2.1')).toMatchObject({ kind: 'refused', status: 401 });
      expect(asked).toEqual([]);
    },
  );

  it('a decision is valid for a minute, then the API server is asked again, so a revoked right ends', async () => {
    let mayAll = true;
    const { access, clock, asked } = setUp(() => mayAll);
    await access.decide('good-ann', '192.0.2.1');
    await access.decide('good-ann', '192.0.2.2');
    expect(asked).toHaveLength(3);
    mayAll = false;
    await clock.advance(DECISION_MS - 1);
    expect(await access.decide('good-ann', '192.0.2.1')).toMatchObject({ kind: 'granted' });
    await clock.advance(1);
    expect(await access.decide('good-ann', '192.0.2.1')).toMatchObject({ kind: 'refused', status: 403 });
  });

  it('access is refused while the API server does not answer, and that is not remembered', async () => {
    const { access, state, clock } = setUp();
    await access.decide('good-ann', '192.0.2.1');
    await clock.advance(DECISION_MS);
    state.isDown = true;
    expect(await access.decide('good-ann', '192.0.2.1')).toMatchObject({ kind: 'refused', status: 503, error: 'unavailable' });
    state.isDown = false;
    expect(await access.decide('good-ann', '192.0.2.1')).toMatchObject({ kind: 'granted' });
  });

  it('wrong tokens of a peer are limited; the API server is not asked more often, and one more attempt comes back in six seconds', async () => {
    const { access, clock, asked } = setUp();
    for (let attempt = 0; attempt < 10; attempt++) {
      expect(await access.decide(`bad-${attempt}`, '192.0.2.9')).toMatchObject({ status: 401 });
    }
    expect(await access.decide('bad-more', '192.0.2.9')).toMatchObject({ status: 429, retryAfterSeconds: 6 });
    expect(asked).toHaveLength(10);
    await clock.advance(6_000);
    expect(await access.decide('bad-later', '192.0.2.9')).toMatchObject({ status: 401 });
    expect(await access.decide('bad-again', '192.0.2.9')).toMatchObject({ status: 429 });
  });

  it('a flood of wrong tokens from everywhere is limited, and does not lock out users who had access before', async () => {
    const { access, clock, asked } = setUp();
    await access.decide('good-ann', '198.51.100.1');
    await clock.advance(DECISION_MS);
    for (let index = 0; index < 3_000; index++) await access.decide(`bad-${index}`, `192.0.${index >> 8}.${index & 255}`);
    expect(asked.length).toBeLessThan(200);
    expect(await access.decide('good-new', '198.51.100.2')).toMatchObject({ status: 429 });
    expect(await access.decide('good-ann', '192.0.2.1')).toMatchObject({ kind: 'granted' });
  });

  it('malformed tokens of one peer do not keep others from signing in, and do not flood the log', async () => {
    const { access, refused } = setUp();
    for (let index = 0; index < 3_000; index++) await access.decide(`no token ${index}`, '192.0.2.9');
    expect(refused).toHaveLength(10);
    expect(await access.decide('good-new', '198.51.100.2')).toMatchObject({ kind: 'granted' });
  });

  it('one token in many simultaneous requests is reviewed once', async () => {
    const { access, asked } = setUp();
    await Promise.all(Array.from({ length: 50 }, () => access.decide('good-ann', '192.0.2.1')));
    expect(asked.filter((one) => one.startsWith('token'))).toHaveLength(1);
  });
});
