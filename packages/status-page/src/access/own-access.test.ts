import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { accessByToken, accessForAll } from './own-access.js';

const POOLS = new Set(['pools'] as const);

function byToken() {
  const clock = new FakeClock();
  const refused: unknown[] = [];
  const ports = { isSame: (one: string, other: string) => one === other, clock, onRefused: (one: unknown) => refused.push(one) };
  return { access: accessByToken('secret', POOLS, ports), clock, refused };
}

describe('access without a cluster', () => {
  it('for all: only pools, and no user', async () => {
    const sections = { pools: { kind: 'shown' }, machines: { kind: 'off' }, hosts: { kind: 'off' } };
    expect(await accessForAll(POOLS).decide(undefined, '127.0.0.1')).toMatchObject({ kind: 'granted', user: null, sections });
  });

  it('with the token, but with no other text', async () => {
    const { access, refused } = byToken();
    expect(await access.decide('secret', '192.0.2.1')).toMatchObject({ kind: 'granted' });
    expect(await access.decide(undefined, '192.0.2.1')).toMatchObject({ status: 401, error: 'token-missing' });
    expect(await access.decide('Secret', '192.0.2.1')).toMatchObject({ status: 401, error: 'token-refused' });
    expect(refused).toHaveLength(1);
  });

  it('a peer that tries tokens is slowed down, others are not', async () => {
    const { access, clock } = byToken();
    for (let attempt = 0; attempt < 10; attempt++) await access.decide(`try ${attempt}`, '192.0.2.9');
    expect(await access.decide('secret', '192.0.2.9')).toMatchObject({ status: 429, retryAfterSeconds: 6 });
    expect(await access.decide('secret', '192.0.2.1')).toMatchObject({ kind: 'granted' });
    await clock.advance(6_000);
    expect(await access.decide('secret', '192.0.2.9')).toMatchObject({ kind: 'granted' });
  });

  it('wrong tokens from everywhere do not lock out a peer that has had the right one', async () => {
    const { access, refused } = byToken();
    await access.decide('secret', '198.51.100.1');
    for (let index = 0; index < 3_000; index++) await access.decide('wrong', `192.0.${index >> 8}.${index & 255}`);
    expect(refused.length).toBeLessThan(200);
    expect(await access.decide('secret', '198.51.100.2')).toMatchObject({ status: 429 });
    expect(await access.decide('secret', '198.51.100.1')).toMatchObject({ kind: 'granted' });
  });
});
